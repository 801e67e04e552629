//! Elementary functions where they are called: the definitions of `core::math` as functions of the module,
//! which LLVM copies into loops and makes vectors of.
//!
//! Outside of loops, and where the processor cannot fuse multiplications, the compiled helper is called
//! instead: it has the same bits and needs no compiling. On a GPU there is nothing else to call. What a
//! definition calls almost never ([`Definition::is_rare`]) gets a version for each width of vector, which
//! looks whether any lane needs it; LLVM's vectoriser is told of those by an attribute, and they are copied
//! in after it has run.

use super::{Emitter, Shared, bug, built};
use inkwell::attributes::{Attribute, AttributeLoc};
use inkwell::module::Linkage;
use inkwell::values::{BasicValue, CallSiteValue, FunctionValue};
use inkwell::{AddressSpace, FloatPredicate};
use std::collections::{HashMap, HashSet};
use tierup_core::diag::Result;
use tierup_core::door::{FUNC_PREFIX, HELPER_PREFIX};
use tierup_core::lir::cfg::{Cfg, Dominators, Loops};
use tierup_core::lir::{Block, Func, InstData, Module, Ty, Value};
use tierup_core::math::{Definition, definition, reduce, single};
use tierup_core::rt::RtFn;

/// Lanes of the vectors that the vectoriser may choose; the last of float32 only.
const WIDTHS: [u32; 4] = [2, 4, 8, 16];
/// Ends the names of forms for numbers that come one by one.
const ALONE: &str = ".alone";
/// Keeps functions that nobody calls yet.
const USED: &str = "llvm.compiler.used";

/// The definitions that a block calls, and the results of these calls.
fn calls<'f>(func: &'f Func, block: Block) -> impl Iterator<Item = (&'static Definition, Value)> + 'f {
    let nodes = func.blocks[block.index()].insts.iter().map(|i| &func.insts[i.index()]);
    nodes.filter_map(|n| {
        if let InstData::CallHelper { helper, .. } = &n.data {
            Some((definition(helper)?, *n.results.first()?))
        } else {
            None
        }
    })
}

/// A definition that a module asks for, in one of its forms.
pub(crate) struct Wanted {
    pub helper: &'static RtFn,
    pub func: Func,
    pub alone: bool,
}

/// Where definitions of elementary functions take the place of helpers: in these blocks, and of what calls
/// with these results the form for numbers that come one by one.
pub(crate) struct Copies {
    blocks: HashSet<Block>,
    alone: HashSet<Value>,
}

impl Copies {
    pub(crate) fn none() -> Copies {
        Copies { blocks: HashSet::new(), alone: HashSet::new() }
    }
    /// Whether definitions take the place of helpers in a block.
    pub(crate) fn holds(&self, block: Block) -> bool {
        self.blocks.contains(&block)
    }
    pub(crate) fn of(func: &Func, cfg: &Cfg, options: &crate::Options<'_>) -> Copies {
        let blocks = blocks(func, cfg, options);
        let alone = if blocks.is_empty() || func.name.ends_with(ALONE) {
            HashSet::new()
        } else if options.target.is_gpu() {
            // A thread of a GPU computes one number at a time.
            let all = blocks.iter().flat_map(|b| calls(func, *b));
            all.filter(|(d, _)| d.has_form_alone()).map(|(_, result)| result).collect()
        } else {
            waiting(func, cfg, &blocks)
        };
        Copies { blocks, alone }
    }
}

/// Results of calls in loops that wait for themselves: what the call gives at one turn goes into its operands
/// at the next, as in `x = exp(-x)`. No such loop becomes vectors.
fn waiting(func: &Func, cfg: &Cfg, blocks: &HashSet<Block>) -> HashSet<Value> {
    let loops = Loops::new(func, cfg, &Dominators::new(func, cfg));
    let mut from: HashMap<Value, Vec<Value>> = HashMap::new();
    for b in cfg.rpo() {
        for node in func.blocks[b.index()].insts.iter().map(|i| &func.insts[i.index()]) {
            for r in &node.results {
                node.data.for_each_use(|v| from.entry(*r).or_default().push(v));
            }
            node.data.for_each_target(|to, args| {
                for (p, v) in func.blocks[to.index()].params.iter().zip(args) {
                    from.entry(*p).or_default().push(*v);
                }
            });
        }
    }
    let mut found = HashSet::new();
    for b in cfg.rpo().iter().filter(|b| blocks.contains(b)) {
        let Some(inside) = loops.all.iter().filter(|l| l.blocks.contains(b)).min_by_key(|l| l.blocks.len())
        else {
            continue;
        };
        let mut here: HashSet<Value> = HashSet::new();
        for block in inside.blocks.iter().map(|b| &func.blocks[b.index()]) {
            here.extend(
                block
                    .params
                    .iter()
                    .copied()
                    .chain(block.insts.iter().flat_map(|i| func.insts[i.index()].results.iter().copied())),
            );
        }
        for node in func.blocks[b.index()].insts.iter().map(|i| &func.insts[i.index()]) {
            let (InstData::CallHelper { helper, .. }, [result]) = (&node.data, &node.results[..]) else {
                continue;
            };
            if definition(helper).is_none_or(|d| !d.has_form_alone()) {
                continue;
            }
            let (mut todo, mut seen) = (vec![*result], HashSet::new());
            while let Some(v) = todo.pop() {
                for u in from.get(&v).into_iter().flatten().filter(|u| here.contains(u)) {
                    if seen.insert(*u) {
                        todo.push(*u);
                    }
                }
            }
            if seen.contains(result) {
                found.insert(*result);
            }
        }
    }
    found
}

/// The blocks of a function in which a definition is worth copying.
fn blocks(func: &Func, cfg: &Cfg, options: &crate::Options<'_>) -> HashSet<Block> {
    if !cfg.rpo().iter().any(|b| calls(func, *b).next().is_some()) || !options.target.fuses() {
        return HashSet::new();
    }
    if options.target.is_gpu() {
        return cfg.rpo().iter().copied().collect();
    }
    let loops = Loops::new(func, cfg, &Dominators::new(func, cfg));
    cfg.rpo().iter().copied().filter(|b| loops.depth(*b) > 0 && !func.blocks[b.index()].cold).collect()
}

/// The definitions that the functions of a module ask for, and those that these ask for in turn.
pub(crate) fn wanted(module: &Module, options: &crate::Options<'_>) -> Vec<Wanted> {
    let mut found: Vec<Wanted> = vec![];
    let mut asked: Vec<(&'static Definition, bool)> = vec![];
    let look = |func: &Func| {
        let cfg = Cfg::new(func);
        let copies = Copies::of(func, &cfg, options);
        // In the order of the text, so that the same module gives the same code.
        cfg.rpo()
            .iter()
            .filter(|b| copies.blocks.contains(b))
            .flat_map(|b| calls(func, *b))
            .map(|(d, result)| (d, copies.alone.contains(&result)))
            .collect::<Vec<_>>()
    };
    for func in &module.funcs {
        asked.extend(look(func));
    }
    while let Some((d, alone)) = asked.pop() {
        if found.iter().any(|f| *f.helper == *d.helper && f.alone == alone) {
            continue;
        }
        let Some(func) = (if alone { d.alone() } else { Some(d.func()) }) else { continue };
        if options.target.is_gpu() {
            asked.extend(look(&func));
        }
        found.push(Wanted { helper: d.helper, func, alone });
    }
    found
}

impl<'c> Shared<'c, '_> {
    /// Declares the definition of a helper.
    pub(super) fn declare_body(&self, helper: &'static RtFn, func: &Func) -> FunctionValue<'c> {
        let f = self.module.add_function(
            &format!("{FUNC_PREFIX}{}", func.name),
            self.func_type(&func.sig),
            Some(Linkage::Internal),
        );
        // On a GPU the whole form stands beside the one for single numbers, which hardly ever asks it.
        let aside = |d: &Definition| {
            d.is_rare() || self.options.target.is_gpu() && d.has_form_alone() && !func.name.ends_with(ALONE)
        };
        let placed = if definition(helper).is_some_and(aside) { "noinline" } else { "alwaysinline" };
        for name in ["nounwind", placed] {
            f.add_attribute(AttributeLoc::Function, self.attribute(name, 0));
        }
        self.add_target_attributes(f);
        f
    }

    /// Writes the versions of a rarely called helper, and gives the attribute that tells the vectoriser of
    /// them. It belongs to calls: were it the helper's, LLVM would find it in the versions too, and make them
    /// call themselves.
    fn vector_versions(&self, helper: &'static RtFn, scalar: FunctionValue<'c>) -> Result<Attribute> {
        let name = format!("{HELPER_PREFIX}{}", helper.name);
        let single = helper.params[0] == Ty::F32;
        let mut names = vec![];
        for lanes in &WIDTHS[..WIDTHS.len() - usize::from(!single)] {
            let version = format!("{name}.{lanes}");
            names.push(format!("_ZGV_LLVM_N{lanes}v_{name}({version})"));
            if self.module.get_function(&version).is_none() {
                let made = self.vector_version(&version, scalar, *lanes, single)?;
                self.versions.borrow_mut().push(made.as_global_value().as_pointer_value());
            }
        }
        Ok(self.context.create_string_attribute("vector-function-abi-variant", &names.join(",")))
    }

    /// The version for so many lanes.
    pub(super) fn version_of(
        &self,
        helper: &'static RtFn,
        scalar: FunctionValue<'c>,
        lanes: u32,
    ) -> Result<FunctionValue<'c>> {
        let version = format!("{HELPER_PREFIX}{}.{lanes}", helper.name);
        match self.module.get_function(&version) {
            Some(known) => Ok(known),
            None => self.vector_version(&version, scalar, lanes, helper.params[0] == Ty::F32),
        }
    }

    /// Keeps the versions until the vectoriser has seen them.
    pub(super) fn keep_versions(&self) {
        let all = self.versions.borrow();
        if all.is_empty() {
            return;
        }
        let pointer = self.context.ptr_type(AddressSpace::default());
        let used = self.module.add_global(pointer.array_type(all.len() as u32), None, USED);
        used.set_linkage(Linkage::Appending);
        used.set_section(Some("llvm.metadata"));
        used.set_initializer(&pointer.const_array(&all));
    }

    /// A vector of what the helper gives if any lane is out of the usual range, else of anything.
    fn vector_version(
        &self,
        name: &str,
        scalar: FunctionValue<'c>,
        lanes: u32,
        single: bool,
    ) -> Result<FunctionValue<'c>> {
        let c = self.context;
        let (number, limit) =
            if single { (c.f32_type(), single::LARGE) } else { (c.f64_type(), reduce::LARGE) };
        let vector = number.vec_type(lanes);
        let f =
            self.module.add_function(name, vector.fn_type(&[vector.into()], false), Some(Linkage::Internal));
        for (attribute, value) in [("nounwind", 0), ("willreturn", 0), ("memory", 0), ("alwaysinline", 0)] {
            f.add_attribute(AttributeLoc::Function, self.attribute(attribute, value));
        }
        self.add_target_attributes(f);
        let (entry, slow, done) = (
            c.append_basic_block(f, "entry"),
            c.append_basic_block(f, "slow"),
            c.append_basic_block(f, "done"),
        );
        let b = c.create_builder();
        b.position_at_end(entry);
        let x = f.get_first_param().ok_or_else(|| bug("a version without a parameter"))?.into_vector_value();
        let fabs = self.intrinsic("llvm.fabs", &[vector.into()])?;
        let size = built(b.build_call(fabs, &[x.into()], ""))?
            .try_as_basic_value()
            .basic()
            .ok_or_else(|| bug("fabs gives nothing"))?
            .into_vector_value();
        let limit = number.const_float(limit);
        let limits = inkwell::types::VectorType::const_vector(&vec![limit; lanes as usize]);
        let unusual = built(b.build_float_compare(FloatPredicate::UGE, size, limits, ""))?;
        let or = self.intrinsic("llvm.vector.reduce.or", &[unusual.get_type().into()])?;
        let any = built(b.build_call(or, &[unusual.into()], ""))?
            .try_as_basic_value()
            .basic()
            .ok_or_else(|| bug("an or of lanes gives nothing"))?
            .into_int_value();
        let branch = built(b.build_conditional_branch(any, slow, done))?;
        let weight = |n: u64| c.i32_type().const_int(n, false).into();
        let weights = c.metadata_node(&[c.metadata_string("branch_weights").into(), weight(1), weight(2000)]);
        branch.set_metadata(weights, self.kinds.prof).map_err(|e| bug(e.to_string()))?;
        b.position_at_end(slow);
        let mut result = vector.get_poison();
        for k in 0..lanes {
            let at = c.i32_type().const_int(u64::from(k), false);
            let lane = built(b.build_extract_element(x, at, ""))?;
            let r = built(b.build_call(scalar, &[lane.into()], ""))?
                .try_as_basic_value()
                .basic()
                .ok_or_else(|| bug("the helper gives nothing"))?;
            result = built(b.build_insert_element(result, r, at, ""))?;
        }
        built(b.build_unconditional_branch(done))?;
        b.position_at_end(done);
        let phi = built(b.build_phi(vector, ""))?;
        phi.add_incoming(&[(&vector.const_zero(), entry), (&result, slow)]);
        built(b.build_return(Some(&phi.as_basic_value() as &dyn BasicValue<'c>)))?;
        Ok(f)
    }
}

/// What is left to do when LLVM's pipeline has run: the passes that copy the versions in, if there are any.
pub(crate) fn finish(module: &inkwell::module::Module<'_>) -> Option<&'static str> {
    let used = module.get_global(USED)?;
    // SAFETY: nothing refers to it.
    unsafe { used.delete() };
    Some("always-inline,globaldce,function(instcombine,simplifycfg)")
}

impl<'c> Emitter<'c, '_, '_> {
    /// What a call of the helper calls here.
    pub(super) fn callee(&self, helper: &'static RtFn, results: &[Value]) -> Result<FunctionValue<'c>> {
        let alone = results.first().is_some_and(|r| self.copies.alone.contains(r));
        match self.shared.bodies.get(&(helper.name, alone)) {
            Some(body) if self.copies.blocks.contains(&self.at) => Ok(*body),
            _ => self.shared.helper(helper),
        }
    }

    /// Tells the vectoriser what else a call of a helper could be.
    pub(super) fn offer_vectors(
        &self,
        helper: &'static RtFn,
        callee: FunctionValue<'c>,
        call: CallSiteValue<'c>,
    ) -> Result<()> {
        if self.shared.options.target.is_gpu() || !definition(helper).is_some_and(Definition::is_rare) {
            return Ok(());
        }
        call.add_attribute(AttributeLoc::Function, self.shared.vector_versions(helper, callee)?);
        Ok(())
    }
}
