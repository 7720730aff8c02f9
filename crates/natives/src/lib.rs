//! heddle-natives
