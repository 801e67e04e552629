//! When a dictionary was changed: a number that moves with every change. CPython 3.11 keeps one in each
//! dictionary; from 3.12 on a watcher counts for those that guards look at.

use pyo3::ffi;

type Obj = *mut ffi::PyObject;

#[cfg(not(Py_3_12))]
pub(crate) use tag::Watched;
#[cfg(Py_3_12)]
pub(crate) use watcher::Watched;

#[cfg(not(Py_3_12))]
mod tag {
    use super::{Obj, ffi};

    /// A dictionary whose changes are seen.
    pub(crate) struct Watched;

    impl Watched {
        pub(crate) fn new(_dict: Obj) -> Watched {
            Watched
        }
        /// The number of the last change of `dict`, which is the dictionary that this was made for.
        #[allow(deprecated)]
        #[inline]
        pub(crate) fn version(&self, dict: Obj) -> u64 {
            // SAFETY: `dict` is a live dict.
            unsafe { (*dict.cast::<ffi::PyDictObject>()).ma_version_tag }
        }
    }
}

#[cfg(Py_3_12)]
mod watcher {
    use super::Obj;
    use std::collections::HashMap;
    use std::ffi::c_int;
    use std::sync::atomic::{AtomicU64, Ordering};
    use std::sync::{Arc, LazyLock, Mutex, MutexGuard};

    /// `PyDict_EVENT_DEALLOCATED`.
    const GONE: c_int = 5;

    type Callback = unsafe extern "C" fn(c_int, Obj, Obj, Obj) -> c_int;
    // PyO3 does not declare these.
    unsafe extern "C" {
        fn PyDict_AddWatcher(callback: Callback) -> c_int;
        fn PyDict_Watch(watcher: c_int, dict: Obj) -> c_int;
        fn PyErr_Clear();
    }

    /// Changes of each watched dictionary, by its address, until it goes.
    static CHANGES: LazyLock<Mutex<HashMap<usize, Arc<AtomicU64>>>> = LazyLock::new(Default::default);

    fn changes() -> MutexGuard<'static, HashMap<usize, Arc<AtomicU64>>> {
        CHANGES.lock().unwrap_or_else(|e| e.into_inner())
    }

    /// CPython calls this in front of every change, while nobody else can look at the dictionary.
    unsafe extern "C" fn changed(event: c_int, dict: Obj, _key: Obj, _value: Obj) -> c_int {
        let mut all = changes();
        if let Some(count) = all.get(&(dict as usize)) {
            count.fetch_add(1, Ordering::Release);
        }
        if event == GONE {
            all.remove(&(dict as usize));
        }
        0
    }

    /// Our watcher among the eight that an interpreter has room for; none where others have taken them all.
    fn watcher() -> Option<c_int> {
        static OURS: LazyLock<Option<c_int>> = LazyLock::new(|| {
            // SAFETY: this thread is attached; the callback lives as long as the process.
            let id = unsafe { PyDict_AddWatcher(changed) };
            if id < 0 {
                // SAFETY: attached, with the error of the call before.
                unsafe { PyErr_Clear() };
            }
            (id >= 0).then_some(id)
        });
        *OURS
    }

    /// A dictionary whose changes are seen.
    pub(crate) struct Watched(Option<Arc<AtomicU64>>);

    impl Watched {
        pub(crate) fn new(dict: Obj) -> Watched {
            let Some(id) = watcher() else { return Watched(None) };
            // SAFETY: attached; `dict` is a live dict. Watching it twice changes nothing.
            if unsafe { PyDict_Watch(id, dict) } != 0 {
                // SAFETY: attached, with the error of the call before.
                unsafe { PyErr_Clear() };
                return Watched(None);
            }
            Watched(Some(
                changes().entry(dict as usize).or_insert_with(|| Arc::new(AtomicU64::new(1))).clone(),
            ))
        }
        /// The number of the last change; 0 where it is not known, and every name has to be compared.
        #[inline]
        pub(crate) fn version(&self, _dict: Obj) -> u64 {
            self.0.as_ref().map_or(0, |count| count.load(Ordering::Acquire))
        }
    }
}
