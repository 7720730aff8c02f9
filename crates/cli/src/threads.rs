//! How many scheduler threads of each kind there are, and how many of them are online: what `+S`, `+SP`, `+SDcpu`, `+SDPcpu` and `+SDio`
//! come to, however often and in whatever order they are given. As in stock a number of 0 or less counts from the number of processors,
//! the last flag of a kind counts, and percentages are applied at the end.

use std::str::FromStr;

/// Of each kind, as of all that is numbered with them.
const MAX_THREADS: i64 = 1024;

/// Threads of a kind.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Kind {
    pub total: i64,
    pub online: i64,
}

#[derive(Clone, Debug)]
pub struct Threads {
    processors: i64,
    normal: Kind,
    dirty_cpu: Kind,
    pub dirty_io: usize,
    normal_percent: Kind,
    dirty_cpu_percent: Kind,
    /// A flag told how many.
    pub is_told: bool,
}

/// The numbers of threads to start.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Resolved {
    pub schedulers: usize,
    pub online: usize,
    pub dirty_cpu: usize,
    pub dirty_cpu_online: usize,
}

const ALL: Kind = Kind { total: 100, online: 100 };

/// `N`, `N:M` or `:M`.
fn pair(value: &str) -> Option<(Option<i64>, Option<i64>)> {
    let number = |text: &str| i32::from_str(text).ok().map(i64::from);
    match value.split_once(':') {
        None => Some((Some(number(value)?), None)),
        Some(("", online)) => Some((None, Some(number(online)?))),
        Some((total, online)) => Some((Some(number(total)?), Some(number(online)?))),
    }
}

fn percent(value: &str) -> Option<Kind> {
    let (total, online) = pair(value)?;
    let total = total.unwrap_or(100);
    let online = online.unwrap_or(total.min(100));
    (total >= 0 && online >= 0).then_some(Kind { total, online })
}

impl Threads {
    pub fn new(processors: usize) -> Threads {
        let processors = processors as i64;
        let kind = Kind { total: processors, online: processors };
        Threads { processors, normal: kind, dirty_cpu: kind, dirty_io: 10, normal_percent: ALL, dirty_cpu_percent: ALL, is_told: false }
    }

    fn counted(&self, before: Kind, value: &str, what: &str) -> Result<Kind, String> {
        let bad = || format!("bad amount of {what} {value}");
        let (total, online) = pair(value).ok_or_else(bad)?;
        let online = online.unwrap_or(total.unwrap_or(before.online).min(before.online));
        let total = total.unwrap_or(self.processors);
        let from_processors = |n: i64| if n > 0 { n } else { self.processors + n };
        let kind = Kind { total: from_processors(total), online: from_processors(online) };
        if !(1..=MAX_THREADS).contains(&kind.total) {
            return Err(format!("{}: there may be 1 to {MAX_THREADS}", bad()));
        }
        if !(1..=kind.total).contains(&kind.online) {
            return Err(format!("bad amount of {what} online {} (total amount of {what} {})", kind.online, kind.total));
        }
        Ok(kind)
    }

    /// `+S`
    pub fn set(&mut self, value: &str) -> Result<(), String> {
        (self.normal, self.is_told) = (self.counted(self.normal, value, "schedulers")?, true);
        Ok(())
    }

    /// `+SDcpu`
    pub fn set_dirty_cpu(&mut self, value: &str) -> Result<(), String> {
        self.dirty_cpu = self.counted(self.dirty_cpu, value, "dirty CPU schedulers")?;
        Ok(())
    }

    /// `+SP`
    pub fn set_percent(&mut self, value: &str) -> Result<(), String> {
        let percent = percent(value).ok_or_else(|| format!("bad schedulers percentage specifier {value}"))?;
        (self.normal_percent, self.is_told) = (percent, true);
        Ok(())
    }

    /// `+SDPcpu`
    pub fn set_dirty_cpu_percent(&mut self, value: &str) -> Result<(), String> {
        self.dirty_cpu_percent = percent(value).ok_or_else(|| format!("bad dirty CPU schedulers percentage specifier {value}"))?;
        Ok(())
    }

    /// `+SDio`
    pub fn set_dirty_io(&mut self, value: &str) -> Result<(), String> {
        match value.parse() {
            Ok(n) if (1..=MAX_THREADS as usize).contains(&n) => self.dirty_io = n,
            _ => return Err(format!("bad number of dirty I/O schedulers {value}: there may be 1 to {MAX_THREADS}")),
        }
        Ok(())
    }

    pub fn resolve(&self) -> Result<Resolved, String> {
        let part = |of: i64, percent: i64| of * percent / 100;
        let (told, percent) = (self.normal, self.normal_percent);
        let normal = if percent == ALL {
            told
        } else {
            Kind { total: part(told.total, percent.total).max(1), online: part(told.online, percent.online).max(1) }
        };
        if normal.total > MAX_THREADS {
            return Err(format!("bad schedulers percentage {} (total amount of schedulers {})", percent.total, normal.total));
        }
        if normal.online > normal.total {
            return Err(format!(
                "bad schedulers online percentage {} (total amount of schedulers {}, online {})",
                percent.online, normal.total, normal.online
            ));
        }
        let (told, percent) = (self.dirty_cpu, self.dirty_cpu_percent);
        // Never more than normal ones; nor more online than there are.
        let dirty_cpu = part(told.total, percent.total).min(normal.total).max(1);
        let dirty_cpu_online = part(told.online, percent.online).min(normal.online).min(dirty_cpu).max(1);
        let count = |n: i64| usize::try_from(n).expect("checked to be positive");
        Ok(Resolved {
            schedulers: count(normal.total),
            online: count(normal.online),
            dirty_cpu: count(dirty_cpu),
            dirty_cpu_online: count(dirty_cpu_online),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::{Resolved, Threads};

    /// Schedulers, online, dirty CPU, of these online, on a computer with that number of processors.
    fn all(processors: usize, flags: &str) -> Result<(usize, usize, usize, usize), String> {
        let mut threads = Threads::new(processors);
        for flag in flags.split_whitespace() {
            let (name, value) = flag.split_once('=').unwrap();
            match name {
                "S" => threads.set(value)?,
                "SP" => threads.set_percent(value)?,
                "SDcpu" => threads.set_dirty_cpu(value)?,
                "SDPcpu" => threads.set_dirty_cpu_percent(value)?,
                _ => threads.set_dirty_io(value)?,
            }
        }
        let Resolved { schedulers, online, dirty_cpu, dirty_cpu_online } = threads.resolve()?;
        Ok((schedulers, online, dirty_cpu, dirty_cpu_online))
    }

    /// What stock does on two processors.
    #[test]
    fn flags_of_all_kinds_in_turn() {
        assert_eq!(all(2, ""), Ok((2, 2, 2, 2)));
        assert_eq!(all(2, "S=8:8 S=1"), Ok((1, 1, 1, 1)));
        assert_eq!(all(2, "S=8:8 S=4"), Ok((4, 4, 2, 2)));
        assert_eq!(all(2, "S=0"), Ok((2, 2, 2, 2)));
        assert_eq!(all(2, "S=-1"), Ok((1, 1, 1, 1)));
        assert_eq!(all(2, "S=0:1"), Ok((2, 1, 2, 1)));
        assert_eq!(all(2, "S=2:0"), Ok((2, 2, 2, 2)));
        assert_eq!(all(2, "S=8:-1"), Ok((8, 1, 2, 1)));
        assert_eq!(all(2, "SP=400:400"), Ok((8, 8, 2, 2)));
        assert_eq!(all(2, "SP=50"), Ok((1, 1, 1, 1)));
        assert_eq!(all(2, "SP=50 S=8:8"), Ok((4, 4, 2, 2)));
        assert_eq!(all(2, "S=8:8 SDcpu=8:8"), Ok((8, 8, 8, 8)));
        assert_eq!(all(2, "SDcpu=8:8 S=4:1"), Ok((4, 1, 4, 1)));
        assert_eq!(all(2, "SDPcpu=50:50"), Ok((2, 2, 1, 1)));
    }

    #[test]
    fn what_cannot_be_is_said() {
        assert_eq!(all(2, "S=2:3").unwrap_err(), "bad amount of schedulers online 3 (total amount of schedulers 2)");
        for wrong in
            ["S=-2", "S=1025", "S=x", "S=", "S=4:", "S=1:2:3", "S=99999999999", "S=:3", "SP=-1", "SP=100:200", "SP=9999999", "SDio=0"]
        {
            assert!(all(2, wrong).unwrap_err().starts_with("bad "), "{wrong}");
        }
    }
}
