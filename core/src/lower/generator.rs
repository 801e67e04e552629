//! Generators: a frame on the heap and a resume function that switches on where it stopped.
//!
//! Every value that is live across a `yield` lives in the frame: it is stored where it is made and loaded
//! where it is used, so no merge of control flow needs care. The resume function is `(ctx, frame) -> (status,
//! has_value, value…)`; after the last value, or an exception, the frame says "finished". Arguments are the
//! frame's first slots and are owned by it.

use super::func::FuncLower;
use super::suspension::FrameMap;
use crate::desc::place::Place;
use crate::desc::{self, TypeDesc};
use crate::diag::{Code, Diagnostic, Result};
use crate::emit::cx::{Generators, LowerCx, Options, Places, Resume, close_signature};
use crate::emit::locks::Shared;
use crate::host::GlobalValue;
use crate::infer::generator_ids::generator_id;
use crate::infer::state::Session;
use crate::layout::FRAME_HEADER;
use crate::lir::builder::Builder;
use crate::lir::{self, Alias, Signature, Ty};
use crate::offset;
use crate::ops::generator::frame_new;
use crate::ops::id;
use crate::ssa::{BlockCall, Func, InstNode, InstanceId, Op, Value};
use crate::types::{Const, Kind, Type};
use std::collections::{HashMap, HashSet};

/// What a frame keeps, and where.
struct Layout {
    slots: HashMap<Value, Vec<(i32, Ty)>>,
    places: Places,
    desc: &'static TypeDesc,
}

fn resume_name(session: &Session<'_>, id: InstanceId) -> String {
    format!("{}.{}.resume", session.at(id).func.name, id.0)
}

fn resume_signature(yields: Type) -> Signature {
    let mut results = vec![Ty::I64, Ty::I8];
    results.extend(yields.leaves().iter().map(|l| l.ty));
    Signature { params: vec![Ty::Ptr, Ty::Ptr], results }
}

/// Places for arguments and for values that may be needed after a suspension. What a view shows is held by
/// the value behind it, so its references are plain pointers: `w = v[1:]` must not release the array a second
/// time.
fn layout(session: &Session<'_>, number: u32, func: &Func) -> Layout {
    let mut keep: Vec<Value> = func.blocks[0].params.clone();
    keep.extend(live_across_yield(func));
    let holders = super::ownership::holders(func);
    let mut place = Place::default();
    let places = places(session, number, &mut place);
    let mut slots: HashMap<Value, Vec<(i32, Ty)>> = HashMap::new();
    for v in keep {
        let leaves = place.add(func.types[v.index()]);
        if !holders[v.index()] && !func.blocks[0].params.contains(&v) {
            leaves.iter_mut().for_each(|l| l.is_ref = false);
        }
        slots.insert(v, leaves.iter().map(|l| (FRAME_HEADER + l.offset as i32, l.ty)).collect());
    }
    Layout { slots, places, desc: desc::of_struct(&place) }
}

/// What a generator's frame keeps for those who resume it.
fn places(session: &Session<'_>, number: u32, place: &mut Place) -> Places {
    let channels = &session.vars.channels;
    let returned = channels.returned(number);
    let returned = if *returned == Kind::Never { Type::none() } else { returned };
    Places::add(place, channels.place_of_sent(number), returned)
}

/// Values that some path carries over a `yield`: live after it, by a plain backward analysis.
fn live_across_yield(func: &Func) -> Vec<Value> {
    let order = func.reverse_post_order();
    let mut live_in: Vec<HashSet<Value>> = vec![HashSet::new(); func.blocks.len()];
    let mut across: HashSet<Value> = HashSet::new();
    loop {
        let mut changed = false;
        for b in order.iter().rev() {
            let data = func.block(*b);
            let mut live = HashSet::new();
            for t in data.term.targets() {
                live.extend(&live_in[t.block.index()]);
                live.extend(&t.args);
            }
            match &data.term {
                crate::ssa::Term::Branch { cond: v, .. }
                | crate::ssa::Term::Return(v)
                | crate::ssa::Term::Raise { exc: v, .. } => {
                    live.insert(*v);
                }
                crate::ssa::Term::None | crate::ssa::Term::Jump(_) | crate::ssa::Term::Unreachable => {}
            }
            for i in data.insts.iter().rev() {
                let node = func.inst(*i);
                if let Some(r) = node.result {
                    live.remove(&r);
                }
                if let Some(u) = &node.unwind {
                    live.extend(&live_in[u.block.index()]);
                    live.extend(&u.args);
                }
                if node.op == Op::Yield {
                    across.extend(&live);
                }
                live.extend(&node.args);
            }
            for p in &data.params {
                live.remove(p);
            }
            if live != live_in[b.index()] {
                live_in[b.index()] = live;
                changed = true;
            }
        }
        if !changed {
            break;
        }
    }
    let is_const: HashSet<Value> =
        func.insts.iter().filter(|n| matches!(n.op, Op::Const(_))).filter_map(|n| n.result).collect();
    let params: HashSet<Value> = func.blocks[0].params.iter().copied().collect();
    let mut out: Vec<Value> =
        across.into_iter().filter(|v| !is_const.contains(v) && !params.contains(v)).collect();
    out.sort_unstable();
    out
}

/// The function that makes a generator, and the one that resumes it.
pub(crate) fn lower_generator(
    session: &Session<'_>,
    id: InstanceId,
    func: &Func,
    globals: &HashMap<Value, GlobalValue>,
    options: Options,
    generators: &Generators,
    guard: Option<&Shared>,
) -> Result<Vec<lir::Func>> {
    let yields = session.at(id).yields;
    let sig = resume_signature(yields);
    let l = layout(session, generator_id(&session.at(id).key), func);
    let held = held_by_arguments(func, &l, generators);
    let maker = lower_maker(session, id, func, &l, options, generators);
    let mut out = lir::Func::new(resume_name(session, id), sig.clone());
    let b = Builder::start(&mut out);
    let params = b.params(lir::Block(0));
    let mut cx = LowerCx::new(b, params[0], sig.results[1..].to_vec(), options, generators);
    cx.resumes = true;
    cx.guard = guard;
    let mut entry = cx.b.block;
    let start = cx.b.new_block(&[]);
    let index = cx.b.load(Ty::I64, params[1], offset!(Frame.resume), Alias::Frame);
    // An exception leaves the frame finished: it is marked so on entry, and a yield sets the next place.
    let done = cx.b.i64(-1);
    cx.b.store(done, params[1], offset!(Frame.resume), Alias::Frame);
    cx.b.switch_to(start);
    let mut f = FuncLower::new(cx, session, func, globals);
    f.frame = Some(FrameMap::new(params[1], (l.slots, l.places), start, yields));
    // Resuming is a call too, and the generators that a body drives are not among its callees.
    if may_recurse(session, id) {
        f.cx.b.switch_to(entry);
        f.check_stack()?;
        entry = f.cx.b.block;
        f.cx.b.switch_to(start);
    }
    f.run(&[])?;
    let cases = f.frame.as_ref().map(FrameMap::resume_blocks).unwrap_or_default();
    let finished = f.cx.b.new_block(&[]);
    f.cx.b.switch_to(finished);
    if let Some(frame) = &f.frame {
        frame.finish(&mut f.cx);
    }
    f.cx.b.switch_to(entry);
    f.cx.b.switch(index, cases, finished);
    let mut all = vec![maker, out];
    if let Some((resume, name)) =
        generators.get(&generator_id(&session.at(id).key)).and_then(|g| Some((g, g.close.as_ref()?)))
    {
        all.push(lower_close(name, resume, yields, &held, options, generators));
    }
    Ok(all)
}

/// Whether resuming may lead back to the same code: through what the body calls, or through the generators that it
/// drives.
fn may_recurse(session: &Session<'_>, id: InstanceId) -> bool {
    let made = typed(session);
    let (mut seen, mut todo) = (HashSet::new(), vec![id]);
    while let Some(at) = todo.pop() {
        let Some(t) = &session.at(at).typed else { continue };
        for next in super::callees(&t.func).into_iter().chain(mentioned(&t.func, &made)) {
            if next == id {
                return true;
            }
            if seen.insert(next) {
                todo.push(next);
            }
        }
    }
    false
}

/// The generator function itself: a new frame that holds the arguments.
fn lower_maker(
    session: &Session<'_>,
    id: InstanceId,
    func: &Func,
    l: &Layout,
    options: Options,
    generators: &Generators,
) -> lir::Func {
    let t = super::target(session, id);
    let mut out = lir::Func::new(t.name.clone(), t.sig.clone());
    let b = Builder::start(&mut out);
    let params = b.params(lir::Block(0));
    let mut cx = LowerCx::new(b, params[0], t.sig.results[1..].to_vec(), options, generators);
    let desc = crate::emit::constants::described(&mut cx.b, l.desc);
    let frame = cx.helper_value(&frame_new, &[desc]);
    if func.side.closes {
        let one = cx.b.i64(1);
        cx.b.store(one, frame, offset!(Frame.closing), Alias::Frame);
    }
    for (val, ty) in crate::emit::cx::split_leaves(&params[1..], &t.params).iter().zip(&t.params) {
        cx.retain(val, *ty);
    }
    let places = func.blocks[0].params.iter().flat_map(|p| l.slots.get(p).into_iter().flatten());
    for (v, (at, _)) in params[1..].iter().zip(places) {
        cx.b.store(*v, frame, *at, Alias::Frame);
    }
    let status = cx.b.i64(0);
    cx.b.ret(vec![status, frame]);
    out
}

/// Resume functions of all generators of a session.
pub(crate) fn all(session: &Session<'_>) -> Generators {
    let made: Vec<InstanceId> = (0..session.instances.len())
        .map(InstanceId::new)
        .filter(|i| session.at(*i).func.is_generator)
        .collect();
    let of_functions = || session.instances.iter().filter(|i| i.typed.is_some() && !i.func.is_generator);
    let handed_on: HashSet<u32> = made
        .iter()
        .map(|i| generator_id(&session.at(*i).key))
        .filter(|id| of_functions().any(|f| holds_any(f.ret, &HashSet::from([*id]))))
        .collect();
    let mut closes: HashSet<u32> = HashSet::new();
    // One that holds another one that must be closed must be closed itself.
    loop {
        let before = closes.len();
        for i in &made {
            let Some(typed) = &session.at(*i).typed else { continue };
            let f = &typed.func;
            let keeps = |id: &u32| closes.contains(id) || handed_on.contains(id);
            if f.insts.iter().any(|n| n.op == Op::Yield && handler(f, n, &keeps).is_some())
                || f.types.iter().any(|t| holds_any(*t, &closes))
            {
                closes.insert(generator_id(&session.at(*i).key));
            }
        }
        if closes.len() == before {
            break;
        }
    }
    made.iter()
        .map(|i| {
            let (id, name) = (generator_id(&session.at(*i).key), resume_name(session, *i));
            let close = closes.contains(&id).then(|| format!("{name}.close"));
            let places = places(session, id, &mut Place::default());
            (
                id,
                Resume {
                    name,
                    sig: resume_signature(session.at(*i).yields),
                    close,
                    handed_on: handed_on.contains(&id),
                    places,
                },
            )
        })
        .collect()
}

/// Where an exception goes that is raised at a `yield`. One that `yield from` throws on to what it delegates to goes past
/// that where nobody sees a difference: no generator, or one that has no handlers (`keeps` says which ones may have
/// some) and that nobody else knows.
fn handler<'f>(func: &'f Func, node: &'f InstNode, keeps: &dyn Fn(&u32) -> bool) -> Option<&'f BlockCall> {
    let to = node.unwind.as_ref()?;
    let mut insts = func.block(to.block).insts.iter().map(|i| func.inst(*i));
    let thrown = insts.find(|n| !matches!(n.op, Op::Const(_)));
    let Some(thrown) = thrown.filter(|n| matches!(n.op, Op::Apply(op) if op.is(id::ITER_THROW))) else {
        return Some(to);
    };
    let made = |v: Value| func.insts.iter().find(|n| n.result == Some(v)).map(|n| &n.op);
    let over = func.types[thrown.args[0].index()];
    let idle = if let Kind::Generator(id, _) = *over {
        made(thrown.args[2]) == Some(&Op::Const(Const::Bool(true))) && !keeps(&id)
    } else {
        !matches!(*over, Kind::Variant(_))
    };
    if idle { thrown.unwind.as_ref() } else { Some(to) }
}

/// Exceptions that are thrown into a generator are thrown on where that makes a difference alone.
pub(super) fn forget_idle_delegations(func: &mut Func, generators: &Generators) {
    let keeps = |id: &u32| generators.get(id).is_none_or(|g| g.close.is_some() || g.handed_on);
    for i in 0..func.insts.len() {
        if func.insts[i].op == Op::Yield {
            let to = handler(func, &func.insts[i], &keeps).cloned();
            func.insts[i].unwind = to;
        }
    }
}

/// Loops say where they are left what they do not need any more. Only the end of a generator is anybody's business.
pub(super) fn forget_drops(func: &mut Func) {
    let holds = |func: &Func, v: &Value| holds_generator(func.types[v.index()]);
    for b in 0..func.blocks.len() {
        let mut insts = std::mem::take(&mut func.blocks[b].insts);
        insts.retain(|i| {
            let node = func.inst(*i);
            !matches!(node.op, Op::Apply(op) if op.is(id::ITER_DROP))
                || node.args.iter().any(|v| holds(func, v))
        });
        func.blocks[b].insts = insts;
    }
}

fn holds_generator(t: Type) -> bool {
    matches!(t.kind(), Kind::Generator(..)) || t.arguments().iter().any(|t| holds_generator(t))
}

/// The generators of a session with the numbers of their types, in the order of their instances.
pub fn typed(session: &Session<'_>) -> Vec<(u32, InstanceId)> {
    let all = (0..session.instances.len())
        .map(InstanceId::new)
        .filter(|i| session.at(*i).typed.is_some() && session.at(*i).func.is_generator);
    all.map(|i| (generator_id(&session.at(i).key), i)).collect()
}

/// The generators that values of a function may be, which it steps and closes. Not all of them are made by a
/// call that is left in it: where the types of the arguments grew while it was typed, a variable may still be
/// what the first call gave.
pub fn mentioned(func: &Func, all: &[(u32, InstanceId)]) -> Vec<InstanceId> {
    all.iter()
        .filter(|(id, _)| func.types.iter().any(|t| holds_any(*t, &HashSet::from([*id]))))
        .map(|(_, i)| *i)
        .collect()
}

/// Whether values of a type hold one of these generators.
fn holds_any(t: Type, ids: &HashSet<u32>) -> bool {
    if let Kind::Generator(id, _) = *t {
        return ids.contains(&id);
    }
    if ids.is_empty() {
        return false;
    }
    t.arguments().iter().any(|c| holds_any(c, ids))
}

/// Arguments that hold generators that must be closed, and their slots.
fn held_by_arguments(func: &Func, l: &Layout, generators: &Generators) -> Vec<(Type, Vec<(i32, Ty)>)> {
    let closed: HashSet<u32> =
        generators.iter().filter(|(_, g)| g.close.is_some()).map(|(id, _)| *id).collect();
    let params = func.blocks[0].params.iter().map(|p| (func.types[p.index()], p));
    params
        .filter(|(t, _)| holds_any(*t, &closed))
        .filter_map(|(t, p)| Some((t, l.slots.get(p)?.clone())))
        .collect()
}

/// `(ctx, frame) -> 0`: if the frame, which may be null, is suspended and this is its last reference, it is
/// resumed for the last time. What goes wrong meanwhile nobody hears of, as in Python. Then generators among
/// its arguments are closed, which the run-time would only drop.
fn lower_close(
    name: &str,
    resume: &Resume,
    yields: Type,
    arguments: &[(Type, Vec<(i32, Ty)>)],
    options: Options,
    generators: &Generators,
) -> lir::Func {
    let mut out = lir::Func::new(name.to_owned(), close_signature());
    let b = Builder::start(&mut out);
    let params = b.params(lir::Block(0));
    let mut cx = LowerCx::new(b, params[0], vec![], options, generators);
    let frame = params[1];
    let (there, alone, suspended, on, ended, done) = (
        cx.b.new_block(&[]),
        cx.b.new_block(&[]),
        cx.b.new_block(&[]),
        cx.b.new_block(&[]),
        cx.b.new_block(&[]),
        cx.b.new_block(&[]),
    );
    let null = cx.b.null();
    let some = cx.b.bin(lir::Op::IcmpNe, frame, null);
    cx.b.brif(some, there, &[], done, &[]);
    cx.b.switch_to(there);
    let refs = cx.b.load(Ty::I64, frame, offset!(Frame.obj.refs), Alias::Volatile);
    let last = cx.b.bin_imm(lir::Op::IcmpEq, refs, 1);
    cx.b.brif(last, alone, &[], done, &[]);
    cx.b.switch_to(alone);
    let at = cx.b.load(Ty::I64, frame, offset!(Frame.resume), Alias::Frame);
    let begun = cx.b.bin_imm(lir::Op::IcmpSgt, at, 0);
    cx.b.brif(begun, suspended, &[], ended, &[]);
    cx.b.switch_to(suspended);
    let two = cx.b.i64(2);
    cx.b.store(two, frame, offset!(Frame.closing), Alias::Frame);
    let r = cx.b.call(&resume.name, &resume.sig, &[params[0], frame]);
    let (failed, fine) = (cx.b.new_block(&[]), cx.b.new_block(&[]));
    let ok = cx.b.bin_imm(lir::Op::IcmpEq, r[0], 0);
    cx.b.brif(ok, fine, &[], failed, &[]);
    cx.b.switch_to(failed);
    let exc = cx.b.conv(lir::Op::Bitcast, Ty::Ptr, r[0]);
    cx.release_object(exc);
    cx.b.jump(ended, &[]);
    cx.b.switch_to(fine);
    // It may have yielded instead of ending.
    cx.b.brif(r[1], on, &[], ended, &[]);
    cx.b.switch_to(on);
    cx.release(&r[2..], yields);
    cx.b.jump(ended, &[]);
    cx.b.switch_to(ended);
    for (t, slots) in arguments {
        let value: Vec<lir::Value> =
            slots.iter().map(|(at, ty)| cx.b.load(*ty, frame, *at, Alias::Frame)).collect();
        cx.release(&value, *t);
        for (at, _) in slots.iter().filter(|(_, ty)| *ty == Ty::Ptr) {
            cx.b.store(null, frame, *at, Alias::Frame);
        }
    }
    cx.b.jump(done, &[]);
    cx.b.switch_to(done);
    let zero = cx.b.i64(0);
    cx.b.ret(vec![zero]);
    out
}

/// How a generator of that type is resumed by others than compiled code.
pub fn resume_target(session: &Session<'_>, id: u32) -> Result<(String, Signature, Places)> {
    let found = (0..session.instances.len())
        .map(InstanceId::new)
        .find(|i| session.at(*i).func.is_generator && generator_id(&session.at(*i).key) == id);
    let inst = found.ok_or_else(|| {
        Diagnostic::new(
            Code::UnsupportedArgument,
            "a generator made elsewhere cannot be resumed in this function",
        )
        .help("make the generator where it is used")
    })?;
    let places = places(session, id, &mut Place::default());
    Ok((resume_name(session, inst), resume_signature(session.at(inst).yields), places))
}
