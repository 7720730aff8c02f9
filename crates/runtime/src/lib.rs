//! heddle-runtime
