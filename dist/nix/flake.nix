{
  description = "Measures what a Linux system can do and what changes to it cost";

  # dist/nix is below the sources: nix build 'path:.?dir=dist/nix'
  inputs.nixpkgs.url = "github:NixOS/nixpkgs/nixos-unstable";

  outputs = { self, nixpkgs }:
    let
      systems = [ "x86_64-linux" "aarch64-linux" "riscv64-linux" "powerpc64le-linux" "armv7l-linux" ];
      each = f: nixpkgs.lib.genAttrs systems (system: f nixpkgs.legacyPackages.${system});
      sources = ../..;
    in
    {
      packages = each (pkgs: {
        default = pkgs.rustPlatform.buildRustPackage {
          pname = "unixmark";
          version = (builtins.fromTOML (builtins.readFile (sources + "/Cargo.toml"))).workspace.package.version;
          src = sources;
          cargoLock.lockFile = sources + "/Cargo.lock";
          cargoBuildFlags = [ "-p" "unixmark" "-p" "unixmark-graphics" ];
          # The portable programs are static.
          buildInputs = [ pkgs.glibc.static ];
          # They measure, and want a machine for themselves.
          doCheck = false;
          postInstall = ''
            mkdir -p $out/share/man
            $out/bin/unixmark man --into $out/share/man
          '';
          meta = {
            description = "Measures what a Linux system can do and what changes to it cost";
            license = with pkgs.lib.licenses; [ mit asl20 ];
            mainProgram = "unixmark";
          };
        };
      });
    };
}
