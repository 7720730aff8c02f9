//! The memory of timers. A timer is identified by the number of its slab, its index there and its generation. All three stand in its
//! reference, so a lookup takes no table by reference and no lock.
//!
//! A slab consists of chunks, which its directory finds by index. Only the owner of a slab takes nodes from it and frees them; all threads
//! may look them up. An empty chunk is freed once no thread can look at it any more (`qsbr`). The chunk that takes its place begins with
//! generations that were not there before, so an old reference does not find a new timer.

use super::node::{Node, NodeRef};
use crate::base::{qsbr, refs};
use crate::observe::locks::LockClass;
use heddle_sync::stack::Stack;
use std::cell::Cell;
use std::ptr::{null, null_mut};
use std::sync::atomic::{AtomicPtr, AtomicU64, Ordering};
use std::sync::{Mutex, OnceLock};

pub(crate) const CHUNK_NODES: usize = 512;
const PAGE_CHUNKS: usize = 1024;
const PAGES: usize = 256;
/// All indices are below this.
pub(crate) const NODES: usize = CHUNK_NODES * PAGE_CHUNKS * PAGES;

#[repr(C)]
pub(crate) struct Chunk {
    nodes: [Node; CHUNK_NODES],
    /// What follows is touched by the owner alone. The first free node; they are linked by `next`.
    free: Cell<*const Node>,
    used: Cell<usize>,
    next: Cell<*const Chunk>,
    prev: Cell<*const Chunk>,
}

impl Chunk {
    /// A chunk whose nodes are all free, the first one first.
    fn new(base: u32, generation: u64) -> Box<Chunk> {
        let nodes = std::array::from_fn(|i| Node::new(base + i as u32, generation));
        let chunk =
            Box::new(Chunk { nodes, free: Cell::new(null()), used: Cell::new(0), next: Cell::new(null()), prev: Cell::new(null()) });
        for pair in chunk.nodes.windows(2) {
            pair[0].next.set(&pair[1]);
        }
        chunk.free.set(&chunk.nodes[0]);
        chunk
    }

    /// The chunk of a node of a slab.
    fn of(node: *const Node) -> *const Chunk {
        // SAFETY: nodes of slabs are in chunks, which begin with them; the index says which it is.
        unsafe { node.sub((*node).index as usize % CHUNK_NODES).cast() }
    }
}

struct Entry {
    /// AcqRel in `chunk`, Release in `free`, Acquire in readers: the nodes of a chunk that is seen are there.
    chunk: AtomicPtr<Chunk>,
    /// The generation that the next chunk here begins with. Touched by the owner alone.
    generation: AtomicU64,
}

type Page = [Entry; PAGE_CHUNKS];

/// Finds chunks by index.
pub(crate) struct Directory {
    /// AcqRel in `entry`, Acquire in readers: the entries of a page that is seen are null or set.
    pages: [AtomicPtr<Page>; PAGES],
    /// All indices have these bits.
    mark: u32,
}

impl Directory {
    pub(crate) const fn new(mark: u32) -> Directory {
        Directory { pages: [const { AtomicPtr::new(null_mut()) }; PAGES], mark }
    }

    /// The node of that index. It stays there until the caller's next quiescent state.
    #[inline]
    pub(crate) fn find(&self, index: u32) -> Option<&Node> {
        let number = (index & !self.mark) as usize / CHUNK_NODES;
        // Acquire, both: paired with the exchanges in `entry` and `chunk`.
        let page = self.pages.get(number / PAGE_CHUNKS)?.load(Ordering::Acquire);
        // SAFETY: pages stay for good.
        let entry = unsafe { &page.as_ref()?[number % PAGE_CHUNKS] };
        let chunk = entry.chunk.load(Ordering::Acquire);
        // SAFETY: a chunk that was in the directory lives until all threads that could see it have been quiescent.
        Some(unsafe { &chunk.as_ref()?.nodes[index as usize % CHUNK_NODES] })
    }

    pub(crate) fn for_each(&self, mut f: impl FnMut(&Node)) {
        for page in &self.pages {
            // SAFETY: as in `find`.
            // Acquire: pairs with AcqRel in `entry`.
            let Some(page) = (unsafe { page.load(Ordering::Acquire).as_ref() }) else { continue };
            for entry in page {
                // SAFETY: as in `find`.
                if let Some(chunk) = unsafe { entry.chunk.load(Ordering::Acquire).as_ref() } {
                    chunk.nodes.iter().for_each(&mut f);
                }
            }
        }
    }

    fn entry(&self, number: u32) -> &Entry {
        let slot = &self.pages[number as usize / PAGE_CHUNKS];
        // Acquire: pairs with AcqRel below, of another thread.
        let mut page = slot.load(Ordering::Acquire);
        if page.is_null() {
            let generation = refs::start_salt() | 1;
            let fresh: Box<Page> =
                Box::new(std::array::from_fn(|_| Entry { chunk: AtomicPtr::new(null_mut()), generation: AtomicU64::new(generation) }));
            let fresh = Box::into_raw(fresh);
            // Release: a thread that sees the page sees its contents.
            match slot.compare_exchange(null_mut(), fresh, Ordering::AcqRel, Ordering::Acquire) {
                Ok(_) => page = fresh,
                Err(other) => {
                    page = other;
                    // SAFETY: no other thread saw it.
                    drop(unsafe { Box::from_raw(fresh) });
                }
            }
        }
        // SAFETY: pages stay for good.
        unsafe { &(&*page)[number as usize % PAGE_CHUNKS] }
    }

    /// The chunk of that number; a new one if there is none.
    pub(crate) fn chunk(&self, number: u32) -> *const Chunk {
        let entry = self.entry(number);
        let found = entry.chunk.load(Ordering::Acquire);
        if !found.is_null() {
            return found;
        }
        let fresh = Box::into_raw(Chunk::new((number * CHUNK_NODES as u32) | self.mark, entry.generation.load(Ordering::Relaxed)));
        // Release: a thread that sees the chunk sees its contents.
        match entry.chunk.compare_exchange(null_mut(), fresh, Ordering::AcqRel, Ordering::Acquire) {
            Ok(_) => fresh,
            Err(other) => {
                // SAFETY: no other thread saw it.
                drop(unsafe { Box::from_raw(fresh) });
                other
            }
        }
    }

    /// Frees an unused chunk after no thread can look at it any more.
    ///
    /// # Safety
    /// The caller owns the slab, and no node of the chunk is on any list.
    unsafe fn free(&self, number: u32) {
        let entry = self.entry(number);
        let chunk = entry.chunk.load(Ordering::Relaxed);
        // SAFETY: by contract it is there.
        let highest = unsafe { (*chunk).nodes.iter().map(|node| node.claim.generation()).max() };
        entry.generation.store(highest.unwrap_or(0) + 1, Ordering::Relaxed);
        entry.chunk.store(null_mut(), Ordering::Release);
        let chunk = Parting(chunk);
        qsbr::retire(move || chunk.free());
    }
}

impl Drop for Directory {
    fn drop(&mut self) {
        for page in &mut self.pages {
            let page = *page.get_mut();
            if page.is_null() {
                continue;
            }
            // SAFETY: no other thread has the directory; pages and chunks came from boxes.
            unsafe {
                for entry in &mut *page {
                    let chunk = *entry.chunk.get_mut();
                    if !chunk.is_null() {
                        drop(Box::from_raw(chunk));
                    }
                }
                drop(Box::from_raw(page));
            }
        }
    }
}

/// A chunk that is not in a directory any more.
struct Parting(*mut Chunk);

// SAFETY: it belongs to the thread that has this.
unsafe impl Send for Parting {}

impl Parting {
    fn free(self) {
        // SAFETY: it came from a box, and no thread can look at it any more.
        drop(unsafe { Box::from_raw(self.0) });
    }
}

/// The slab for threads that own none. Any number of threads take from it, and the owners of wheels give back.
pub(crate) struct Outside {
    pub directory: Directory,
    /// The thread that holds this lock owns the slab.
    slab: Mutex<Shared>,
    /// Nodes that were given back while another thread had the slab, for the next one that has it: an owner of a wheel does not wait.
    free: Stack<NodeRef>,
}

struct Shared(Slab);

// SAFETY: its chunks are in no other slab, and one thread at a time has it, by the lock.
unsafe impl Send for Shared {}

/// This bit is set in the index of its nodes.
pub(crate) const OUTSIDE: u32 = NODES as u32;

pub(crate) fn outside() -> &'static Outside {
    static ALL: OnceLock<Outside> = OnceLock::new();
    ALL.get_or_init(Outside::new)
}

impl Outside {
    fn new() -> Outside {
        Outside { directory: Directory::new(OUTSIDE), slab: Mutex::new(Shared(Slab::new())), free: Stack::default() }
    }

    /// Takes a node for the caller. None if there are too many.
    pub(crate) fn take(&self) -> Option<*const Node> {
        let mut shared = LockClass::OutsideTimers.lock(&self.slab);
        self.sort_in(&mut shared.0);
        shared.0.take(&self.directory)
    }

    /// Frees a node whose timer is over: any thread may take it next.
    pub(crate) fn give_back(&self, node: &Node) {
        match self.slab.try_lock() {
            Ok(mut shared) => {
                self.sort_in(&mut shared.0);
                shared.0.give_back(&self.directory, node);
            }
            Err(_) => self.free.push(NodeRef(node)),
        }
    }

    fn sort_in(&self, slab: &mut Slab) {
        if !self.free.is_empty() {
            self.free.take().into_iter().for_each(|NodeRef(node)| slab.give_back(&self.directory, node));
        }
    }

    #[cfg(test)]
    pub(crate) fn chunks(&self) -> usize {
        let mut shared = LockClass::OutsideTimers.lock(&self.slab);
        self.sort_in(&mut shared.0);
        shared.0.chunks()
    }
}

/// The owner's side of a slab.
pub(crate) struct Slab {
    /// The first of the chunks with free nodes.
    room: *const Chunk,
    /// True if one chunk is empty. It is kept: otherwise two timers at its edge could allocate and free it all the time.
    spare: bool,
    /// Numbers of chunks that were freed.
    vacant: Vec<u32>,
    /// Number of chunks so far, freed ones included.
    count: u32,
}

impl Slab {
    pub(crate) fn new() -> Slab {
        Slab { room: null(), spare: false, vacant: Vec::new(), count: 0 }
    }

    /// Takes a node for the caller. None if there are too many.
    #[inline]
    pub(crate) fn take(&mut self, directory: &Directory) -> Option<*const Node> {
        if self.room.is_null() {
            self.grow(directory)?;
        }
        // SAFETY: chunks on the list are ours, and have a free node.
        unsafe {
            let chunk = &*self.room;
            let node = chunk.free.get();
            chunk.free.set((*node).next.get());
            if chunk.used.replace(chunk.used.get() + 1) == 0 {
                self.spare = false;
            }
            if chunk.free.get().is_null() {
                self.room = chunk.next.get();
                if let Some(next) = self.room.as_ref() {
                    next.prev.set(null());
                }
            }
            Some(node)
        }
    }

    #[cold]
    fn grow(&mut self, directory: &Directory) -> Option<()> {
        let number = match self.vacant.pop() {
            Some(number) => number,
            None if (self.count as usize) < NODES / CHUNK_NODES => {
                self.count += 1;
                self.count - 1
            }
            None => return None,
        };
        self.room = directory.chunk(number);
        // It does not stay empty: it is about to be used.
        self.spare = true;
        Some(())
    }

    /// Frees a node that is not used any more and is on no list.
    #[inline]
    pub(crate) fn give_back(&mut self, directory: &Directory, node: *const Node) {
        let chunk = Chunk::of(node);
        // SAFETY: the node and its chunk are ours.
        unsafe {
            if !(*node).claim.renew() {
                // It counts as used forever: its generations are used up.
                return;
            }
            let chunk = &*chunk;
            (*node).next.set(chunk.free.get());
            if chunk.free.replace(node).is_null() {
                chunk.prev.set(null());
                chunk.next.set(self.room);
                if let Some(next) = self.room.as_ref() {
                    next.prev.set(chunk);
                }
                self.room = chunk;
            }
            chunk.used.set(chunk.used.get() - 1);
            if chunk.used.get() == 0 {
                self.emptied(directory, chunk);
            }
        }
    }

    #[cold]
    #[inline(never)]
    fn emptied(&mut self, directory: &Directory, chunk: &Chunk) {
        if !std::mem::replace(&mut self.spare, true) {
            return;
        }
        let (prev, next) = (chunk.prev.get(), chunk.next.get());
        // SAFETY: chunks on the list are ours.
        unsafe {
            match prev.as_ref() {
                Some(prev) => prev.next.set(next),
                None => self.room = next,
            }
            if let Some(next) = next.as_ref() {
                next.prev.set(prev);
            }
        }
        let number = (chunk.nodes[0].index & !directory.mark) / CHUNK_NODES as u32;
        self.vacant.push(number);
        // SAFETY: none of its nodes is in use, and it is off our list.
        unsafe { directory.free(number) };
    }

    #[cfg(test)]
    pub(crate) fn chunks(&self) -> usize {
        self.count as usize - self.vacant.len()
    }

    /// Checks the invariants: the chunks on the list are those of the directory with a free node, each linked both ways; each has as many
    /// free nodes as it says; and `spare` says if one of them is empty. Returns the number of nodes in use.
    #[cfg(test)]
    pub(crate) fn check(&self, directory: &Directory) -> usize {
        let (mut listed, mut prev, mut at, mut empty) = (std::collections::HashSet::new(), null(), self.room, 0);
        // SAFETY: chunks on the list are ours, and their free nodes too.
        while let Some(chunk) = unsafe { at.as_ref() } {
            assert!(listed.insert(at), "the list of chunks has no end");
            assert_eq!(chunk.prev.get(), prev);
            let (mut free, mut node) = (0, chunk.free.get());
            // SAFETY: as above.
            while let Some(this) = unsafe { node.as_ref() } {
                free += 1;
                assert!(free <= CHUNK_NODES && Chunk::of(node) == at && this.claim.seen().is_none());
                node = this.next.get();
            }
            assert!(free > 0 && free + chunk.used.get() == CHUNK_NODES, "{free} free, {} used", chunk.used.get());
            empty += usize::from(chunk.used.get() == 0);
            (prev, at) = (at, chunk.next.get());
        }
        assert_eq!(empty, usize::from(self.spare));
        let (mut chunks, mut used) = (0, 0);
        for number in 0..self.count {
            let chunk = directory.entry(number).chunk.load(Ordering::Relaxed).cast_const();
            assert_eq!(chunk.is_null(), self.vacant.contains(&number));
            // SAFETY: chunks in the directory live.
            if let Some(there) = unsafe { chunk.as_ref() } {
                chunks += 1;
                used += there.used.get();
                assert_eq!(listed.contains(&chunk), !there.free.get().is_null());
            }
        }
        assert_eq!(chunks, self.chunks());
        used
    }
}
