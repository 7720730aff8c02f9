//! What the VM counts and measures of its own work. Figures only: nothing here decides anything.

pub mod figures;
pub mod lock_order;
pub mod locks;
pub mod messages;
pub mod msacc;
pub mod pauses;
pub mod record;
pub mod wall_time;
