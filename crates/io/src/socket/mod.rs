//! The natives of `prim_socket`, on which the modules `socket` and, with `{inet_backend, socket}`, `gen_tcp` and `gen_udp` stand.

pub mod address;
pub mod answer;
pub mod ioctl_table;
pub mod netns;
pub mod option_table;
pub mod supports;
