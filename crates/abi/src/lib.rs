//! heddle-abi
