defmodule Adder.MixProject do
  use Mix.Project

  def project, do: [app: :adder, version: "0.1.0", compilers: [:adder_c] ++ Mix.compilers()]
  def application, do: []
end

# Compiles the C source against the headers of the OTP tree that runs.
defmodule Mix.Tasks.Compile.AdderC do
  use Mix.Task.Compiler

  def run(_) do
    include = Path.join([:code.root_dir(), "usr", "include"])
    priv = Path.join(Mix.Project.app_path(), "priv")
    File.rm_rf!(priv)
    File.mkdir_p!(priv)
    {_, 0} = System.cmd("cc", ["-shared", "-fPIC", "-O2", "-I", include, "-o", Path.join(priv, "adder.so"), "c_src/adder.c"], into: IO.stream())
    {:ok, []}
  end
end
