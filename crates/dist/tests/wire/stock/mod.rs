//! The wire format and stock OTP 27: a live node, and packets that one sent.
//!
//! The tests with a live node need a stock `erl`:
//! `HEDDLE_STOCK=PATH/TO/erl cargo test --release -p heddle-dist --test wire -- --ignored`. `BLESS=1` as well records the packets that
//! `recorded` reads.

mod live;
mod peer;
mod recorded;
