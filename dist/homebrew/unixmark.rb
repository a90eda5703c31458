# On Linux: brew install --formula ./unixmark.rb. dist/packages fills in what stands between two @.
class Unixmark < Formula
  desc "Measures what a Linux system can do and what changes to it cost"
  homepage "@HOMEPAGE@"
  url "@HOMEPAGE@/releases/download/v@VERSION@/unixmark-@VERSION@-source.tar.xz"
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
