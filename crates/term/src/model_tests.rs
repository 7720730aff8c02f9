//! Maps and integers against plain models (`heddle_model`).

mod integers;
mod maps;
