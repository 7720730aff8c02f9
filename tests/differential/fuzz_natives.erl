%% Functions that programs call, with what they take and give. Sizes are `small`: an argument of 2^60 would ask for memory,
%% which says nothing about a machine. Nothing here depends on time, process identifiers or the order of a hash table.
-module(fuzz_natives).
-export([giving/1, guards/1]).

%% Those that may give Type, as {Module, Function, Arguments}.
giving(any) -> [{M, F, A} || {M, F, A, _} <- all()];
giving(Type) ->
    case get({?MODULE, Type}) of
        undefined ->
            Found = [{M, F, A} || {M, F, A, T} <- all(), T =:= Type orelse T =:= any],
            put({?MODULE, Type}, Found),
            Found;
        Found -> Found
    end.

%% Guard functions that give Type.
guards(int) -> [{byte_size, [bin]}, {bit_size, [bits]}, {length, [list]}, {tuple_size, [tuple]}, {map_size, [map]}, {size, [tuple]},
                {abs, [int]}, {trunc, [num]}, {round, [num]}, {ceil, [num]}, {floor, [num]}, {min, [int, int]}, {max, [int, int]}];
guards(bool) -> [{F, [any]} || F <- [is_atom, is_integer, is_float, is_number, is_list, is_tuple, is_map, is_binary, is_bitstring,
                                     is_function, is_boolean, is_pid, is_reference, is_port]]
                ++ [{is_map_key, [any, map]}, {is_function, [any, small]}];
guards(float) -> [{float, [num]}, {abs, [float]}];
guards(any) -> [{hd, [list]}, {element, [small, tuple]}, {map_get, [any, map]}, {max, [any, any]}, {min, [any, any]}];
guards(list) -> [{tl, [list]}];
guards(_) -> [].

all() ->
    erlang() ++ lists_() ++ maps() ++ binaries() ++ texts() ++ others().

erlang() ->
    [{erlang, F, A, T} || {F, A, T} <-
        [{abs, [num], num}, {element, [small, tuple], any}, {setelement, [small, tuple, any], tuple},
         {append_element, [tuple, any], tuple}, {insert_element, [small, tuple, any], tuple}, {delete_element, [small, tuple], tuple},
         {make_tuple, [small, any], tuple}, {make_tuple, [small, any, list], tuple}, {tuple_to_list, [tuple], list},
         {list_to_tuple, [list], tuple}, {list_to_binary, [ilist], bin}, {list_to_bitstring, [list], bits},
         {iolist_to_binary, [list], bin}, {iolist_size, [list], int}, {iolist_to_iovec, [list], list},
         {binary_to_list, [bin], ilist}, {binary_to_list, [bin, small, small], ilist}, {bitstring_to_list, [bits], list},
         {binary_part, [bin, small, int], bin}, {split_binary, [bin, small], tuple},
         {atom_to_list, [atom], str}, {atom_to_binary, [atom], bin},
         {integer_to_list, [int], str}, {integer_to_list, [int, base], str},
         {integer_to_binary, [int], bin}, {integer_to_binary, [int, base], bin}, {list_to_integer, [str], int},
         {list_to_integer, [str, base], int}, {binary_to_integer, [bin], int}, {binary_to_integer, [bin, base], int},
         {float_to_list, [float], str}, {float_to_binary, [float], bin}, {float_to_list, [float, floatopts], str},
         {float_to_binary, [float, floatopts], bin}, {list_to_float, [str], float}, {binary_to_float, [bin], float},
         {float, [num], float}, {trunc, [num], int}, {round, [num], int}, {ceil, [num], int}, {floor, [num], int},
         {length, [list], int}, {hd, [list], any}, {tl, [list], list}, {byte_size, [bits], int}, {bit_size, [bits], int},
         {tuple_size, [tuple], int}, {map_size, [map], int}, {phash2, [any], int}, {phash2, [any, range], int}, {phash, [any, range], int},
         {term_to_binary, [any], bin}, {term_to_binary, [any, etfopts], bin}, {external_size, [any], int},
         {binary_to_term, [etf], any}, {binary_to_term, [bin], any}, {md5, [bin], bin}, {crc32, [bin], int}, {adler32, [bin], int},
         {crc32, [int, bin], int}, {crc32_combine, [int, int, small], int}, {'++', [list, list], list}, {'--', [list, list], list},
         {max, [any, any], any}, {min, [any, any], any}, {'bsl', [int, small], int}, {'bsr', [int, int], int},
         {'==', [any, any], bool}, {'=:=', [any, any], bool}, {'<', [any, any], bool}, {'>=', [any, any], bool},
         {'and', [bool, bool], bool}, {'xor', [bool, bool], bool}, {'not', [bool], bool},
         {is_function, [any, small], bool},
         {fun_info, ['fun', fununit], tuple}, {get, [atom], any}, {put, [atom, any], any}, {erase, [atom], any},
         {make_fun, [atom, atom, small], 'fun'}, {function_exported, [atom, atom, small], bool},
         {apply, ['fun', list], any}, {error, [any], any}, {error, [any, list], any}, {throw, [any], any}, {exit, [any], any},
         {raise, [atom, any, list], any}, {decode_packet, [packet, bin, list], any}]].

lists_() ->
    [{lists, F, A, T} || {F, A, T} <-
        [{reverse, [list], list}, {reverse, [list, list], list}, {sort, [list], list}, {usort, [list], list}, {member, [any, list], bool},
         {keyfind, [any, small, list], any}, {keymember, [any, small, list], bool}, {keysearch, [any, small, list], any},
         {keysort, [small, list], list}, {keydelete, [any, small, list], list}, {keystore, [any, small, list, tuple], list},
         {nth, [small, list], any}, {nthtail, [small, list], list}, {last, [list], any}, {sum, [ilist], int}, {max, [list], any},
         {min, [list], any}, {zip, [list, list], list}, {unzip, [list], tuple}, {seq, [small, small], ilist}, {seq, [small, small, small], ilist},
         {sublist, [list, small], list}, {sublist, [list, small, small], list}, {append, [list], list}, {append, [list, list], list},
         {subtract, [list, list], list}, {delete, [any, list], list}, {duplicate, [small, any], list}, {flatten, [list], list},
         {flatlength, [list], int}, {prefix, [list, list], bool}, {suffix, [list, list], bool}, {map, [fun1, list], list},
         {filter, [fun1, list], list}, {foldl, [fun2, any, list], any}, {foldr, [fun2, any, list], any}, {all, [fun1, list], bool},
         {any, [fun1, list], bool}, {partition, [fun1, list], tuple}, {takewhile, [fun1, list], list}, {dropwhile, [fun1, list], list},
         {mapfoldl, [fun2, any, list], tuple}, {sort, [fun2, list], list}, {merge, [list, list], list}, {umerge, [list, list], list},
         {join, [any, list], list}, {enumerate, [list], list}, {uniq, [list], list}, {foreach, [fun1, list], atom}, {search, [fun1, list], any},
         {concat, [list], str}, {droplast, [list], list}, {split, [small, list], tuple}, {filtermap, [fun1, list], list}]].

maps() ->
    [{maps, F, A, T} || {F, A, T} <-
        [{get, [any, map], any}, {get, [any, map, any], any}, {find, [any, map], any}, {put, [any, any, map], map}, {remove, [any, map], map},
         {update, [any, any, map], map}, {merge, [map, map], map}, {is_key, [any, map], bool}, {from_list, [pairs], map},
         {from_keys, [list, any], map}, {take, [any, map], any}, {with, [list, map], map}, {without, [list, map], map}, {size, [map], int},
         {map, [fun2, map], map}, {filter, [fun2, map], map}, {update_with, [any, fun1, map], map}, {update_with, [any, fun1, any, map], map},
         {intersect, [map, map], map}, {groups_from_list, [fun1, list], map}, {new, [], map}, {filtermap, [fun2, map], map}]]
        ++ [{lists, sort, [{call, maps, to_list, [map]}], list}, {lists, sort, [{call, maps, keys, [map]}], list},
            {lists, sort, [{call, maps, values, [map]}], list}].

binaries() ->
    [{binary, F, A, T} || {F, A, T} <-
        [{at, [bin, small], int}, {first, [bin], int}, {last, [bin], int}, {part, [bin, small, int], bin}, {match, [bin, bin], any},
         {matches, [bin, bin], list}, {split, [bin, bin], list}, {split, [bin, bin, splitopts], list}, {replace, [bin, bin, bin], bin},
         {replace, [bin, bin, bin, splitopts], bin}, {copy, [bin], bin}, {copy, [bin, small], bin}, {bin_to_list, [bin], ilist},
         {list_to_bin, [ilist], bin}, {decode_unsigned, [bin], int}, {decode_unsigned, [bin, endian], int}, {encode_unsigned, [int], bin},
         {encode_unsigned, [int, endian], bin}, {longest_common_prefix, [list], int}, {longest_common_suffix, [list], int},
         {encode_hex, [bin], bin}, {decode_hex, [bin], bin}, {join, [list, bin], bin}]].

texts() ->
    [{unicode, characters_to_list, [any], any}, {unicode, characters_to_binary, [any], any}, {unicode, characters_to_binary, [str, encoding, encoding], any},
     {unicode, characters_to_list, [bin, encoding], any}, {unicode, characters_to_nfc_list, [str], any}, {unicode, characters_to_nfd_binary, [str], any},
     {string, length, [str], int}, {string, uppercase, [str], any}, {string, lowercase, [bin], any}, {string, split, [str, str], list},
     {string, lexemes, [str, str], list}, {string, trim, [str], str}, {string, reverse, [str], str}, {string, slice, [str, small, small], str},
     {string, pad, [str, small], any}, {string, find, [str, str], any}, {string, to_integer, [str], any}, {string, to_float, [str], any},
     {string, equal, [str, str], bool}, {string, casefold, [str], any}, {string, next_grapheme, [str], any}, {string, titlecase, [str], any},
     {io_lib, format, [format, list], any}, {io_lib, write, [any], any}, {io_lib, print, [any], any}, {io_lib, format, [{text, "\"~p ~w~n\""}, {two, any}], any},
     {lists, flatten, [{call, io_lib, format, [{text, "\"~tp|~s\""}, {two, str}]}], str},
     {re, run, [str, regex], any}, {re, run, [bin, regex, reopts], any}, {re, replace, [bin, regex, bin, {text, "[global,{return,binary}]"}], bin},
     {re, split, [bin, regex], list}, {erl_scan, string, [str], any}, {base64, encode, [bin], bin}, {base64, decode, [bin], bin},
     {uri_string, parse, [str], any}, {json, encode, [any], any}, {json, decode, [bin], any}].

others() ->
    [{math, F, [num], float} || F <- [sqrt, sin, cos, exp, log, log2, log10, atan, floor, ceil]]
        ++ [{math, pow, [num, num], float}, {math, fmod, [num, num], float}, {math, atan2, [num, num], float},
            {ordsets, from_list, [list], list}, {ordsets, union, [list, list], list}, {orddict, store, [any, any, pairs], list},
            {zlib, uncompress, [{call, zlib, compress, [bin]}], bin}, {zlib, gunzip, [bin], bin}, {array, to_list, [{call, array, from_list, [list]}], list},
            {gb_sets, to_list, [{call, gb_sets, from_list, [list]}], list}, {queue, to_list, [{call, queue, from_list, [list]}], list},
            {sets, size, [{call, sets, from_list, [list]}], int}, {proplists, get_value, [any, list], any}, {calendar, day_of_the_week, [small, small, small], int},
            {calendar, gregorian_days_to_date, [small], tuple}, {erts_debug, flat_size, [any], int}, {rand, seed_s, [{text, "exsss"}, int], any}].
