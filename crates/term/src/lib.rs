//! heddle-term
