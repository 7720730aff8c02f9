//! heddle-beamfile
