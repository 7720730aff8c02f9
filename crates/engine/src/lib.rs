//! heddle-engine
