//! Instructions that vanish, change or get another one before them: targets of jumps and protected ranges
//! follow.

use crate::bytecode::{Handler, Instr, Opcode};

/// What becomes of an instruction.
#[derive(Clone, Copy)]
pub(super) enum Fate {
    /// It stays, with this argument.
    Stays(u32),
    Vanishes,
    /// This one comes before it. Who jumps to the instruction comes to this one.
    Behind(Opcode),
    /// A jump to what was this instruction takes its place.
    Jumps(u32),
}

/// Protected ranges of nothing are left out.
pub(super) fn rewrite(insts: &[Instr], fates: &[Fate], handlers: &[Handler]) -> (Vec<Instr>, Vec<Handler>) {
    let mut out = Vec::with_capacity(insts.len());
    // Where each instruction begins now.
    let mut starts = Vec::with_capacity(insts.len() + 1);
    for (inst, fate) in insts.iter().zip(fates) {
        starts.push(out.len() as u32);
        match fate {
            Fate::Vanishes => {}
            Fate::Stays(arg) => out.push(Instr { arg: *arg, ..*inst }),
            Fate::Behind(op) => out.extend([Instr { op: *op, arg: 0, at: inst.at }, *inst]),
            Fate::Jumps(to) => out.push(Instr { op: Opcode::Jump, arg: *to, at: inst.at }),
        }
    }
    starts.push(out.len() as u32);
    let moved = |at: u32| starts[at as usize];
    for i in &mut out {
        if i.op.jumps() {
            i.arg = moved(i.arg);
        }
    }
    let handlers = handlers.iter().map(|h| Handler {
        start: moved(h.start),
        end: moved(h.end),
        target: moved(h.target),
        ..*h
    });
    (out, handlers.filter(|h| h.start < h.end).collect())
}
