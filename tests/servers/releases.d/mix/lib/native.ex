defmodule Native.Application do
  use Application

  def start(_, _) do
    42 = Adder.add(20, 22)
    Supervisor.start_link([], strategy: :one_for_one)
  end
end
