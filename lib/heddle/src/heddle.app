{application, heddle,
 [{description, "Modules that only Heddle has, with their documentation"},
  {vsn, "0.1.0"},
  {modules, [heddle_sched, heddle_stats, heddle_task]},
  {registered, []},
  {applications, [kernel, stdlib]}]}.
