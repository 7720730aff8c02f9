//! Types of resources, and the C objects that are resources.
//!
//! An object lies after a header in memory of its own. It has a count of references: those of the library (`enif_keep_resource`), one of all
//! terms together, and one while a call-back uses it. When the last goes, the destructor runs on the thread of `callbacks`: terms
//! go during collections, in which a library could do nothing.

use crate::callbacks;
use crate::env::Env;
use crate::library::Library;
use heddle_runtime::RefId;
use heddle_term::Resource;
use heddle_term::{Atom, Heap};
use libc::{c_int, c_void};
use std::alloc::{Layout, alloc, dealloc, handle_alloc_error};
use std::cell::RefCell;
use std::collections::HashMap;
use std::ptr::NonNull;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, LazyLock, Mutex, Weak};

pub type Destructor = unsafe extern "C" fn(*mut Env, *mut c_void);
pub type Stop = unsafe extern "C" fn(*mut Env, *mut c_void, c_int, c_int);
pub type Down = unsafe extern "C" fn(*mut Env, *mut c_void, *const u64, *const Monitor);
pub type DynamicCall = unsafe extern "C" fn(*mut Env, *mut c_void, *mut c_void);

/// `ErlNifMonitor`.
#[repr(C)]
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Monitor {
    pub reference: RefId,
    pub object: usize,
    pub unused: u64,
}

const _: () = assert!(size_of::<Monitor>() == 32);

/// `ErlNifResourceTypeInit`.
#[repr(C)]
#[derive(Clone, Copy, Default)]
pub struct Callbacks {
    pub destructor: Option<Destructor>,
    pub stop: Option<Stop>,
    pub down: Option<Down>,
    pub members: c_int,
    pub dynamic_call: Option<DynamicCall>,
}

impl Callbacks {
    /// True if code of the library may be called after its module is purged.
    fn keep_library(&self) -> bool {
        self.destructor.is_some() || self.stop.is_some() || self.down.is_some() || self.dynamic_call.is_some()
    }
}

pub struct ResourceType {
    pub module: Atom,
    pub name: Atom,
    now: Mutex<(Callbacks, Option<Arc<Library>>)>,
    /// Its objects, and one while a library owns it. AcqRel where it sinks: the last one sees what the others did.
    references: AtomicUsize,
}

// SAFETY: call-backs are functions that any thread may call; the rest is atomic or under a mutex.
unsafe impl Send for ResourceType {}
// SAFETY: as above.
unsafe impl Sync for ResourceType {}

impl ResourceType {
    pub fn callbacks(&self) -> Callbacks {
        self.now.lock().unwrap().0
    }
    /// The library that owns it, for environments of call-backs.
    pub fn owner(&self) -> Option<Arc<Library>> {
        self.now.lock().unwrap().1.clone()
    }

    /// Drops one reference. The last one frees the type.
    fn release(this: *const ResourceType) {
        // SAFETY: the caller has a reference, so the type is there.
        unsafe {
            if (*this).references.fetch_sub(1, Ordering::AcqRel) != 1 {
                return;
            }
            let ResourceType { now, .. } = *Box::from_raw(this as *mut ResourceType);
            if let (callbacks, Some(library)) = now.into_inner().unwrap()
                && callbacks.keep_library()
            {
                library.release();
            }
        }
    }
}

#[derive(Clone, Copy)]
struct TypePtr(*const ResourceType);
// SAFETY: types may be used by all threads.
unsafe impl Send for TypePtr {}

/// The types that a loaded library owns, by module and name.
static TYPES: LazyLock<Mutex<HashMap<(Atom, Atom), TypePtr>>> = LazyLock::new(Mutex::default);

/// A type that the library being loaded opened.
struct Opened {
    ty: *const ResourceType,
    callbacks: Callbacks,
    is_new: bool,
}

thread_local! {
    /// Some while this thread calls `load` or `upgrade` of a library.
    static OPENED: RefCell<Option<Vec<Opened>>> = const { RefCell::new(None) };
}

/// Runs `load` or `upgrade`, in which types can be opened.
pub fn while_loading<R>(f: impl FnOnce() -> R) -> R {
    OPENED.set(Some(Vec::new()));
    f()
}

pub const CREATE: c_int = 1;
pub const TAKEOVER: c_int = 2;

/// Opens a type: makes it, or takes it over. Returns what was done besides.
pub fn open_type(module: Atom, name: Atom, callbacks: Callbacks, flags: c_int) -> (Option<*const ResourceType>, c_int) {
    OPENED.with_borrow_mut(|opened| {
        let Some(opened) = opened else { return (None, flags) };
        let known = TYPES.lock().unwrap().get(&(module, name)).map(|t| t.0);
        let (ty, is_new) = match known {
            None if flags & CREATE != 0 => {
                let ty = ResourceType { module, name, now: Mutex::default(), references: AtomicUsize::new(1) };
                (Box::into_raw(Box::new(ty)).cast_const(), true)
            }
            None => return (None, flags),
            Some(ty) if flags & TAKEOVER != 0 => (ty, false),
            Some(_) => return (None, flags),
        };
        opened.push(Opened { ty, callbacks, is_new });
        (Some(ty), if is_new { CREATE } else { TAKEOVER })
    })
}

/// The library was loaded: it owns the types that it opened.
pub fn commit_types(library: &Arc<Library>) {
    for Opened { ty, callbacks, is_new } in OPENED.take().unwrap_or_default() {
        // SAFETY: opened types are there: new ones are ours, and others belong to a library that stays loaded meanwhile.
        let known = unsafe { &*ty };
        if callbacks.keep_library() {
            library.hold();
        }
        let (old, before) = std::mem::replace(&mut *known.now.lock().unwrap(), (callbacks, Some(library.clone())));
        if is_new {
            TYPES.lock().unwrap().insert((known.module, known.name), TypePtr(ty));
        }
        library.types.lock().unwrap().push(ty);
        if let Some(before) = before {
            before.types.lock().unwrap().retain(|&t| t != ty);
            if old.keep_library() {
                before.release();
            }
        }
    }
}

/// The library was not loaded: what it opened is as before.
pub fn roll_back_types() {
    for opened in OPENED.take().unwrap_or_default() {
        if opened.is_new {
            ResourceType::release(opened.ty);
        }
    }
}

/// The module of the library is purged: its types are there as long as they have objects.
pub fn give_up_types(library: &Library) {
    for ty in std::mem::take(&mut *library.types.lock().unwrap()) {
        // SAFETY: the library has one reference to each of its types.
        let key = unsafe { ((*ty).module, (*ty).name) };
        TYPES.lock().unwrap().remove(&key);
        ResourceType::release(ty);
    }
}

/// The header of an object. Its size is a multiple of the alignment that C objects need.
#[repr(C, align(16))]
pub struct Object {
    ty: *const ResourceType,
    /// AcqRel where it sinks: the last user sees what the others did.
    references: AtomicUsize,
    size: usize,
    /// What terms share, while there are any, and the words of their reference.
    terms: Mutex<(Weak<Handle>, Option<[u32; 3]>)>,
    /// Monitors of processes that the object has.
    pub monitors: Mutex<Vec<RefId>>,
}

// SAFETY: its fields are atomic or under a mutex; the C object after it is the library's to protect.
unsafe impl Sync for Object {}

/// What a reference term owns: one reference of the object for all terms.
pub struct Handle(NonNull<Object>);
// SAFETY: objects may be used by all threads.
unsafe impl Send for Handle {}
// SAFETY: as above.
unsafe impl Sync for Handle {}

impl Resource for Handle {
    fn type_name(&self) -> &'static str {
        "NIF resource"
    }
}

impl Handle {
    pub fn object(&self) -> *mut Object {
        self.0.as_ptr()
    }
}

impl Drop for Handle {
    fn drop(&mut self) {
        // SAFETY: the handle has a reference.
        unsafe { Object::release(self.0.as_ptr()) };
    }
}

impl Object {
    fn layout(size: usize) -> Layout {
        let bytes = size_of::<Object>().checked_add(size).expect("a size that an object may have");
        Layout::from_size_align(bytes, 16).expect("a size that an object may have")
    }

    /// A new object with one reference. Its bytes are not initialised.
    pub fn new(ty: *const ResourceType, size: usize) -> *mut Object {
        // SAFETY: the layout is not empty; the header is written at once. The library's type is there.
        unsafe {
            let object = alloc(Object::layout(size)).cast::<Object>();
            if object.is_null() {
                handle_alloc_error(Object::layout(size));
            }
            (*ty).references.fetch_add(1, Ordering::Relaxed);
            object.write(Object {
                ty,
                references: AtomicUsize::new(1),
                size,
                terms: Mutex::new((Weak::new(), None)),
                monitors: Mutex::default(),
            });
            object
        }
    }

    pub fn data(this: *mut Object) -> *mut c_void {
        this.wrapping_add(1).cast()
    }
    /// The header of a C object.
    pub fn of(data: *mut c_void) -> *mut Object {
        data.cast::<Object>().wrapping_sub(1)
    }
    pub fn size(&self) -> usize {
        self.size
    }
    pub fn ty(&self) -> *const ResourceType {
        self.ty
    }
    pub fn keep(&self) {
        // Relaxed: the caller has a reference.
        self.references.fetch_add(1, Ordering::Relaxed);
    }

    /// Takes a reference, unless there are none any more: then the object waits for its destructor.
    ///
    /// # Safety
    /// The object's memory is there.
    // SAFETY: callers hold the lock of all monitors, and the object has one among them, which its destruction removes first.
    pub unsafe fn keep_if_live(this: *mut Object) -> bool {
        // SAFETY: by contract. AcqRel: as where it sinks.
        let references = unsafe { &(*this).references };
        references.fetch_update(Ordering::AcqRel, Ordering::Acquire, |n| (n > 0).then_some(n + 1)).is_ok()
    }

    /// Drops one reference.
    ///
    /// # Safety
    /// The caller has one.
    // SAFETY: libraries call it as `enif_release_resource`, handles when they go, and call-backs for what they kept.
    pub unsafe fn release(this: *mut Object) {
        // SAFETY: by contract.
        unsafe {
            if (*this).references.fetch_sub(1, Ordering::AcqRel) == 1 {
                callbacks::destroy(this);
            }
        }
    }

    /// The handle for a further term, and the words of its reference.
    ///
    /// # Safety
    /// The caller has a reference.
    // SAFETY: `enif_make_resource` calls it with an object of the library.
    pub unsafe fn handle(this: *mut Object) -> (Arc<Handle>, [u32; 3]) {
        // SAFETY: by contract.
        let object = unsafe { &*this };
        let mut terms = object.terms.lock().unwrap();
        let words = *terms.1.get_or_insert_with(|| heddle_runtime::refs::fresh().words());
        if let Some(handle) = terms.0.upgrade() {
            return (handle, words);
        }
        object.keep();
        let handle = Arc::new(Handle(NonNull::new(this).expect("an object")));
        terms.0 = Arc::downgrade(&handle);
        (handle, words)
    }

    /// Calls the destructor, and frees the memory.
    ///
    /// # Safety
    /// There are no references any more.
    // SAFETY: the thread of `callbacks` calls it once for an object that `release` handed over.
    pub unsafe fn destroy(this: *mut Object) {
        // SAFETY: by contract; the type is there as long as the object.
        unsafe {
            crate::monitor::drop_all(this);
            let ty = (*this).ty;
            if let Some(destructor) = (*ty).callbacks().destructor {
                let owner = (*ty).owner();
                let mut heap = Heap::new();
                let mut env = Env::callback(owner.as_ref().map_or(std::ptr::null(), Arc::as_ptr), &mut heap);
                destructor(&mut env, Object::data(this));
                heap.clear();
            }
            let size = (*this).size;
            std::ptr::drop_in_place(this);
            dealloc(this.cast(), Object::layout(size));
            ResourceType::release(ty);
        }
    }
}
