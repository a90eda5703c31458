# On Linux. brew install --formula ./unixmark.rb, with @URL@ and @SHA256@ those of a release's source tarball.
class Unixmark < Formula
  desc "Measures what a Unix system can do and what changes to it cost"
  homepage "https://crates.io/crates/unixmark"
  url "@URL@/unixmark-0.1.0-source.tar.xz"
  sha256 "@SHA256@"
  license any_of: ["MIT", "Apache-2.0"]

  depends_on "rust" => :build
  depends_on :linux

  def install
    system "cargo", "install", "--offline", "--locked", "--root", prefix, "--path", "."
    man.mkpath
    system bin/"unixmark", "man", "--into", man
    generate_completions_from_executable(bin/"unixmark", "completions")
  end

  test do
    assert_match version.to_s, shell_output("#{bin}/unixmark --version")
  end
end
