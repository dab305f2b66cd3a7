//! Marks for the causal profiler Coz, as in `coz.h`.
//!
//! ```
//! fn handle(request: u64) {
//!     coz::scope!("request"); // an operation, for the rest of the block: latency and its quantiles
//!     // ...
//!     coz::progress!("answered"); // a unit of useful work is done: throughput
//! #   let _ = request;
//! }
//! # handle(1);
//! ```
//!
//! Without the profiler a mark costs one load and a branch. The profiler is found at run time, by
//! `dlsym` at a mark's first visit; nothing is linked. Any thread may visit a mark, but no signal
//! handler. Names are literals.
//!
//! The macros of the crate `coz` (`progress!`, `begin!`, `end!`, `scope!`) are here under the same names.

use std::ffi::{c_char, c_int, c_ulonglong, c_void};
use std::marker::PhantomData;
use std::mem::transmute;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

#[doc(hidden)]
pub const THROUGHPUT: c_int = 1;
#[doc(hidden)]
pub const BEGIN: c_int = 2;
#[doc(hidden)]
pub const END: c_int = 3;
#[doc(hidden)]
pub const ARRIVAL: c_int = 4;

/// A unit of useful work is done here: `progress!()`, named after its line, or `progress!("name")`.
#[macro_export]
macro_rules! progress {
    () => {
        $crate::visit!(THROUGHPUT, concat!(file!(), ":", line!()))
    };
    ($name:literal) => {
        $crate::visit!(THROUGHPUT, $name)
    };
}

/// An operation begins here, and ends, perhaps in another thread, at `end!` of the same name.
#[macro_export]
macro_rules! begin {
    ($name:literal) => {
        $crate::visit!(BEGIN, $name)
    };
}

/// An operation ends here that began at `begin!` of the same name.
#[macro_export]
macro_rules! end {
    ($name:literal) => {
        $crate::visit!(END, $name)
    };
}

/// The same for operations with an identity, an integer that no other open one of that name has: Coz
/// learns how long each takes.
#[macro_export]
macro_rules! begin_id {
    ($name:literal, $id:expr) => {
        $crate::visit_operation!(BEGIN, $name, $id)
    };
}

/// The end of an operation that began at `begin_id!` with that name and identity.
#[macro_export]
macro_rules! end_id {
    ($name:literal, $id:expr) => {
        $crate::visit_operation!(END, $name, $id)
    };
}

/// An operation with an identity of its own, from here to the end of the block.
#[macro_export]
macro_rules! scope {
    ($name:literal) => {
        let _coz_scope = {
            static BEGIN: $crate::Operation =
                $crate::Operation::new($crate::BEGIN, concat!($name, "\0"));
            static END: $crate::Operation =
                $crate::Operation::new($crate::END, concat!($name, "\0"));
            $crate::Scope::enter(&BEGIN, &END)
        };
    };
}

/// A request arrives here, for `coz amp`: `arrival!()` or `arrival!("name")`.
#[macro_export]
macro_rules! arrival {
    () => {
        $crate::visit!(ARRIVAL, concat!(file!(), ":", line!()))
    };
    ($name:literal) => {
        $crate::visit!(ARRIVAL, $name)
    };
}

/// The rest of the block is sped up as one, whatever it calls.
#[macro_export]
macro_rules! region {
    ($name:literal) => {
        let _coz_region = {
            static REGION: $crate::Region = $crate::Region::new(concat!($name, "\0"));
            $crate::InRegion::enter(&REGION)
        };
    };
}

#[doc(hidden)]
#[macro_export]
macro_rules! visit {
    ($kind:ident, $name:expr) => {{
        static POINT: $crate::Point = $crate::Point::new($crate::$kind, concat!($name, "\0"));
        POINT.visit()
    }};
}

#[doc(hidden)]
#[macro_export]
macro_rules! visit_operation {
    ($kind:ident, $name:literal, $id:expr) => {{
        let id = $id as u64; // outside the block of a static, which it could mean
        {
            static OPERATION: $crate::Operation =
                $crate::Operation::new($crate::$kind, concat!($name, "\0"));
            OPERATION.visit(id)
        }
    }};
}

#[cfg(target_os = "linux")]
extern "C" {
    fn dlsym(handle: *mut c_void, symbol: *const c_char) -> *mut c_void;
}

/// What a mark remembers: that it is inert, that it was never visited, or an address.
const INERT: usize = 0;
const NEW: usize = 1;

/// The mark's address, which `find` looks up at its first visit. Threads may race: they find the same.
#[inline]
fn address_of(site: &AtomicUsize, find: impl FnOnce() -> usize) -> usize {
    match site.load(Ordering::Acquire) {
        NEW => first_visit(site, find),
        known => known,
    }
}

#[cold]
fn first_visit(site: &AtomicUsize, find: impl FnOnce() -> usize) -> usize {
    let address = find();
    site.store(address, Ordering::Release);
    address
}

/// What the profiler's function `symbol` (which ends in NUL) hands out; `INERT` without the profiler.
#[cfg(target_os = "linux")]
fn ask(symbol: &str, call: impl FnOnce(*mut c_void) -> *mut c_void) -> usize {
    // SAFETY: the symbol ends in NUL; a null handle stands for all that is loaded.
    let function = unsafe { dlsym(std::ptr::null_mut(), symbol.as_ptr().cast()) };
    if function.is_null() {
        INERT
    } else {
        call(function) as usize
    }
}

#[cfg(not(target_os = "linux"))]
fn ask(_: &str, _: impl FnOnce(*mut c_void) -> *mut c_void) -> usize {
    INERT
}

/// Is the profiler in this process? For libraries that would do more than visit a mark.
pub fn is_profiled() -> bool {
    ask("_coz_get_operation\0", |function| function) != INERT
}

type Get = unsafe extern "C" fn(c_int, *const c_char) -> *mut c_void;
type GetRegion = unsafe extern "C" fn(*const c_char) -> *mut c_void;

#[repr(C)]
struct PointCalls {
    visit: unsafe extern "C" fn(*mut PointCalls),
}

#[doc(hidden)]
pub struct Point {
    kind: c_int,
    name: &'static str,
    site: AtomicUsize,
}

impl Point {
    pub const fn new(kind: c_int, name: &'static str) -> Self {
        Point {
            kind,
            name,
            site: AtomicUsize::new(NEW),
        }
    }

    #[inline]
    pub fn visit(&self) {
        let point = address_of(&self.site, || {
            // SAFETY: the function has this type (coz.h), and the name ends in NUL.
            ask("_coz_get_point\0", |get| unsafe {
                transmute::<*mut c_void, Get>(get)(self.kind, self.name.as_ptr().cast())
            })
        }) as *mut PointCalls;
        if !point.is_null() {
            // SAFETY: the profiler keeps what it hands out.
            unsafe { ((*point).visit)(point) }
        }
    }
}

#[repr(C)]
struct OperationCalls {
    visit: unsafe extern "C" fn(*mut OperationCalls, c_ulonglong),
}

#[doc(hidden)]
pub struct Operation {
    kind: c_int,
    name: &'static str,
    site: AtomicUsize,
}

impl Operation {
    pub const fn new(kind: c_int, name: &'static str) -> Self {
        Operation {
            kind,
            name,
            site: AtomicUsize::new(NEW),
        }
    }

    #[inline]
    pub fn visit(&self, id: u64) {
        self.visit_as(|| id);
    }

    /// Asks for the identity only if the profiler is there.
    #[inline]
    fn visit_as(&self, id: impl FnOnce() -> u64) {
        let operation = address_of(&self.site, || {
            // SAFETY: as for points.
            ask("_coz_get_operation\0", |get| unsafe {
                transmute::<*mut c_void, Get>(get)(self.kind, self.name.as_ptr().cast())
            })
        }) as *mut OperationCalls;
        if !operation.is_null() {
            // SAFETY: as for points.
            unsafe { ((*operation).visit)(operation, id()) }
        }
    }
}

/// What `scope!` makes: an operation that ends when it is dropped, perhaps in another thread.
#[must_use = "the operation ends when this is dropped"]
pub struct Scope {
    end: &'static Operation,
    id: u64,
}

impl Scope {
    #[doc(hidden)]
    #[inline]
    pub fn enter(begin: &'static Operation, end: &'static Operation) -> Self {
        static IDS: AtomicU64 = AtomicU64::new(0);
        let mut id = 0;
        begin.visit_as(|| {
            // Forked processes go on from the same number.
            let process = u64::from(std::process::id()) << 40;
            id = process ^ IDS.fetch_add(1, Ordering::Relaxed);
            id
        });
        Scope { end, id }
    }
}

impl Drop for Scope {
    #[inline]
    fn drop(&mut self) {
        self.end.visit(self.id);
    }
}

#[repr(C)]
struct RegionCalls {
    begin: unsafe extern "C" fn(*mut RegionCalls),
    end: unsafe extern "C" fn(*mut RegionCalls),
}

#[doc(hidden)]
pub struct Region {
    name: &'static str,
    site: AtomicUsize,
}

impl Region {
    pub const fn new(name: &'static str) -> Self {
        Region {
            name,
            site: AtomicUsize::new(NEW),
        }
    }

    #[inline]
    fn find(&self) -> *mut RegionCalls {
        address_of(&self.site, || {
            // SAFETY: as for points.
            ask("_coz_get_region\0", |get| unsafe {
                transmute::<*mut c_void, GetRegion>(get)(self.name.as_ptr().cast())
            })
        }) as *mut RegionCalls
    }
}

/// What `region!` makes: the thread leaves the region when it is dropped, and so it stays in its thread.
#[must_use = "the region ends when this is dropped"]
pub struct InRegion {
    region: *mut RegionCalls,
    stays_in_thread: PhantomData<*mut ()>,
}

impl InRegion {
    #[doc(hidden)]
    #[inline]
    pub fn enter(region: &'static Region) -> Self {
        let region = region.find();
        if !region.is_null() {
            // SAFETY: as for points.
            unsafe { ((*region).begin)(region) }
        }
        InRegion {
            region,
            stays_in_thread: PhantomData,
        }
    }
}

impl Drop for InRegion {
    #[inline]
    fn drop(&mut self) {
        if !self.region.is_null() {
            // SAFETY: as for points.
            unsafe { ((*self.region).end)(self.region) }
        }
    }
}
