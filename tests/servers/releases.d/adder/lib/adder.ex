defmodule Adder do
  @on_load :load
  def load, do: :erlang.load_nif(Path.join(:code.priv_dir(:adder), ~c"adder"), 0)
  def add(_, _), do: :erlang.nif_error(:not_loaded)
end
