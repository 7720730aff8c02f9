defmodule NativeTest do
  use ExUnit.Case, async: true

  test "the library adds", do: assert(Adder.add(1, 2) == 3)
  test "the library refuses what is no number", do: assert_raise(ArgumentError, fn -> Adder.add(1, :b) end)
  test "crypto hashes", do: assert(Base.encode16(:crypto.hash(:sha256, "a")) =~ "CA978112")
end
