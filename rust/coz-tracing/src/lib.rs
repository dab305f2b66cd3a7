//! Spans of `tracing` as operations for the causal profiler Coz: `coz report` shows what faster lines
//! would do to their latency.
//!
//! ```
//! use tracing_subscriber::prelude::*;
//!
//! tracing_subscriber::registry().with(coz_tracing::layer()).init();
//! ```
//!
//! An operation has its span's name. It begins when the span is created, and ends when it is closed:
//! after the last of its handles is gone, in whatever thread. So futures that are instrumented count
//! from their creation to their end, with what they wait for. Spans of one name are one kind of
//! operation. Only one subscriber of a process may have the layer: others number their spans alike.
//! Without the profiler there is no layer.

use std::collections::HashMap;
use std::sync::{PoisonError, RwLock};

use coz::Operation;
use tracing_core::callsite::Identifier;
use tracing_core::span::{Attributes, Id};
use tracing_core::{Metadata, Subscriber};
use tracing_subscriber::layer::Context;
use tracing_subscriber::registry::LookupSpan;

/// A layer that reports all spans; `None` without the profiler, which leaves the subscriber as it is.
pub fn layer() -> Option<Layer> {
    layer_for(|_| true)
}

/// A layer that reports the spans that `is_wanted`, asked once for each place that creates spans.
pub fn layer_for(
    is_wanted: impl Fn(&Metadata<'_>) -> bool + Send + Sync + 'static,
) -> Option<Layer> {
    coz::is_profiled().then(|| Layer {
        is_wanted: Box::new(is_wanted),
        places: RwLock::default(),
    })
}

/// What `layer` makes.
pub struct Layer {
    is_wanted: Box<dyn Fn(&Metadata<'_>) -> bool + Send + Sync>,
    places: RwLock<HashMap<Identifier, Option<&'static Ends>>>,
}

struct Ends {
    begin: Operation,
    end: Operation,
}

impl Layer {
    /// What spans of this place report; `None` if they are not wanted.
    fn ends_of(&self, metadata: &'static Metadata<'static>) -> Option<&'static Ends> {
        let place = metadata.callsite();
        let known = self.places.read().unwrap_or_else(PoisonError::into_inner);
        if let Some(ends) = known.get(&place) {
            return *ends;
        }
        drop(known);
        // Without a lock: what is asked may create spans itself. Places are static, and so is what they
        // report: the profiler keeps the names.
        let ends = (self.is_wanted)(metadata).then(|| {
            let name: &'static str = Box::leak(format!("{}\0", metadata.name()).into_boxed_str());
            &*Box::leak(Box::new(Ends {
                begin: Operation::new(coz::BEGIN, name),
                end: Operation::new(coz::END, name),
            }))
        });
        let mut places = self.places.write().unwrap_or_else(PoisonError::into_inner);
        *places.entry(place).or_insert(ends)
    }
}

impl<S> tracing_subscriber::Layer<S> for Layer
where
    S: Subscriber + for<'a> LookupSpan<'a>,
{
    fn on_new_span(&self, attributes: &Attributes<'_>, id: &Id, _: Context<'_, S>) {
        if let Some(ends) = self.ends_of(attributes.metadata()) {
            ends.begin.visit(id.into_u64());
        }
    }

    fn on_close(&self, id: Id, context: Context<'_, S>) {
        let ends = context.metadata(&id).and_then(|metadata| self.ends_of(metadata));
        if let Some(ends) = ends {
            ends.end.visit(id.into_u64());
        }
    }
}
