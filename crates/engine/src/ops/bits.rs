//! Bit syntax operations.
