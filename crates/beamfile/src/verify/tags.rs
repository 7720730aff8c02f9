//! Catch tags: which Y registers hold one, and where an exception goes.
//!
//! An exception goes to the tag in the lowest Y register of the youngest frame that has one. Where paths with different tags
//! meet, a slot has the handlers of all of them, and holds a tag for certain only if it does on all paths.

use std::collections::HashMap;

/// A set of tags; equal sets have equal ids.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct TagsId(u32);

impl TagsId {
    pub const NONE: TagsId = TagsId(0);
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct Tag {
    pub slot: u32,
    /// Where exceptions go.
    pub handler: u32,
    /// The slot certainly holds a tag.
    pub certain: bool,
}

/// Ours; OTP's own code stays below ten.
const TAGS_MAX: usize = 256;

pub(super) struct TagSets {
    sets: Vec<Vec<Tag>>,
    ids: HashMap<Vec<Tag>, u32>,
}

impl TagSets {
    pub fn new() -> TagSets {
        TagSets { sets: vec![Vec::new()], ids: HashMap::new() }
    }

    pub fn clear(&mut self) {
        self.sets.truncate(1);
        self.ids.clear();
    }

    /// Ordered by slot.
    pub fn get(&self, id: TagsId) -> &[Tag] {
        &self.sets[id.0 as usize]
    }

    #[inline]
    pub fn may_hold(&self, id: TagsId, slot: u32) -> bool {
        id != TagsId::NONE && self.get(id).iter().any(|tag| tag.slot == slot)
    }

    pub fn put(&mut self, id: TagsId, slot: u32, handler: u32) -> Result<TagsId, String> {
        if self.may_hold(id, slot) {
            return Err(format!("y{slot} already holds a catch tag"));
        }
        let mut tags = self.get(id).to_vec();
        tags.push(Tag { slot, handler, certain: true });
        self.intern(tags)
    }

    /// Takes away the tag in a slot. It must be the innermost one.
    pub fn take(&mut self, id: TagsId, slot: u32) -> Result<TagsId, String> {
        let tags = self.get(id);
        if !tags.iter().any(|tag| tag.slot == slot && tag.certain) {
            return Err(format!("y{slot} holds no catch tag on some way here"));
        }
        if let Some(inner) = tags.iter().find(|tag| tag.slot < slot) {
            return Err(format!("the catch tag in y{slot} ends before the inner one in y{}", inner.slot));
        }
        let tags = tags.iter().copied().filter(|tag| tag.slot != slot).collect();
        self.intern(tags)
    }

    pub fn shift_down(&mut self, id: TagsId, by: u32) -> Result<TagsId, String> {
        if id == TagsId::NONE {
            return Ok(id);
        }
        let mut tags = self.get(id).to_vec();
        for tag in &mut tags {
            match tag.slot.checked_sub(by) {
                Some(slot) => tag.slot = slot,
                None => return Err(format!("the catch tag in y{} is cut off", tag.slot)),
            }
        }
        self.intern(tags)
    }

    /// What is there when an exception has gone to this tag: it was in its slot, and the lower ones are out of force.
    pub fn caught(&mut self, id: TagsId, by: Tag) -> Result<TagsId, String> {
        let above = self.get(id).iter().copied().filter(|tag| tag.slot > by.slot);
        let tags = std::iter::once(Tag { certain: true, ..by }).chain(above).collect();
        self.intern(tags)
    }

    pub fn merge(&mut self, left: TagsId, right: TagsId) -> Result<TagsId, String> {
        if left == right {
            return Ok(left);
        }
        let certain = |id: TagsId, slot: u32| self.get(id).iter().any(|tag| tag.slot == slot && tag.certain);
        let both = self.get(left).iter().chain(self.get(right));
        let tags = both.map(|tag| Tag { certain: certain(left, tag.slot) && certain(right, tag.slot), ..*tag }).collect();
        self.intern(tags)
    }

    fn intern(&mut self, mut tags: Vec<Tag>) -> Result<TagsId, String> {
        if tags.is_empty() {
            return Ok(TagsId::NONE);
        }
        tags.sort_unstable();
        tags.dedup();
        if tags.len() > TAGS_MAX {
            return Err(format!("more than {TAGS_MAX} catch tags at once"));
        }
        if let Some(&id) = self.ids.get(&tags) {
            return Ok(TagsId(id));
        }
        let id = self.sets.len() as u32;
        self.sets.push(tags.clone());
        self.ids.insert(tags, id);
        Ok(TagsId(id))
    }
}
