# Loaded before Elixir's own test_helper.exs: ExUnit then reports to this formatter, which writes to the file $ELIXIR_RESULTS
# a line `start MODULE TEST` as a test begins, and `end MODULE TEST RESULT REASON` as it ends; at last `done`.
defmodule Heddle.Formatter do
  use GenServer

  def init(_) do
    {:ok, File.open!(System.fetch_env!("ELIXIR_RESULTS"), [:append, :raw])}
  end

  def handle_cast({:test_started, test}, file), do: line(file, ["start" | key(test)])

  def handle_cast({:test_finished, test}, file) do
    {result, reason} = result(test.state)
    line(file, ["end" | key(test)] ++ [result, reason])
  end

  # A failing setup_all: its tests are never started.
  def handle_cast({:module_finished, %{state: {:failed, failures}} = module}, file) do
    for test <- module.tests do
      line(file, ["end" | key(test)] ++ ["failed", "setup_all: " <> reason(failures)])
    end

    {:noreply, file}
  end

  def handle_cast({:suite_finished, _}, file), do: line(file, ["done"])
  def handle_cast(_, file), do: {:noreply, file}

  defp key(test), do: [inspect(test.module), Atom.to_string(test.name)]

  defp result(nil), do: {"ok", ""}
  defp result({:failed, failures}), do: {"failed", reason(failures)}
  defp result({:skipped, why}), do: {"skipped", why}
  defp result({:excluded, why}), do: {"skipped", why}
  defp result({:invalid, _}), do: {"failed", "setup_all failed"}

  defp reason([{kind, error, stack} | _]) do
    where = for {_, _, _, [_ | _] = at} <- stack, file = at[:file], do: "#{file}:#{at[:line]}"
    Exception.format_banner(kind, error, stack) <> " @ " <> Enum.join(Enum.take(where, 3), " ")
  end

  # Written as raw bytes: the names and reasons are UTF-8 already.
  defp line(file, fields) do
    text = Enum.map_join(fields, "\t", &String.replace(to_string(&1), ~r/[\s\x00-\x1f]+/u, " "))
    :ok = :file.write(file, [text, "\n"])
    {:noreply, file}
  end
end

Application.load(:ex_unit)
Application.put_env(:ex_unit, :formatters, [Heddle.Formatter])
Application.put_env(:ex_unit, :seed, 0)
