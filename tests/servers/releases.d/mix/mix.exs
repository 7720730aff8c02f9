defmodule Native.MixProject do
  use Mix.Project

  def project do
    [app: :native, version: "0.1.0", deps: [{:adder, path: "../adder"}], releases: [native: [include_executables_for: [:unix]]]]
  end

  def application, do: [extra_applications: [:logger, :crypto], mod: {Native.Application, []}]
end
