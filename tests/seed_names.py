"""The names of PyTorch's documentation (2.0, 2.6, 2.8), and where ours differ.

The pages are those on ``torch.distributed.tensor`` and ``.parallel``; where two
disagree the newest holds, and where a page only names something, PyTorch's source.
Paths are below ``torch.distributed.tensor``, which is `dtensor` here.
"""

# Module -> names that it has
MODULES = {
    "api": "DTensor distribute_module distribute_tensor empty full ones zeros",
    "device_mesh": "DeviceMesh init_device_mesh",
    "random": "manual_seed",
    "placement_types": "Partial Placement Replicate Shard",
    "debug": "CommDebugMode visualize_sharding",
    "debug.comm_mode": "CommDebugMode",
    "debug.visualize_sharding": "visualize_sharding",
    "experimental": "context_parallel implicit_replication local_map register_sharding",
    "experimental.attention": "context_parallel",
    "experimental.func_map": "local_map",
    "experimental.register_sharding": "register_sharding",
    "experimental.tp_transform": "tensor_parallel_transformation",
    "parallel": "ColwiseParallel RowwiseParallel input_reshard parallelize_module",
    "parallel.api": "parallelize_module",
    "parallel.fsdp": "enable_2d_with_fsdp",
    "parallel.input_reshard": "input_reshard",
    "parallel.loss": "loss_parallel",
    "parallel.multihead_attention_tp": "TensorParallelMultiheadAttention",
    "parallel.style": "ColwiseParallel PairwiseParallel make_input_shard_1d",
}

# Functions of these names are attributes of the package, beside the module.
BOTH = {
    "debug.visualize_sharding",
    "experimental.register_sharding",
    "parallel.input_reshard",
}

_LAYERS = "(*, input_layouts={}, output_layouts={}, use_local_output=True)"
_INPUTS = (
    "input_layouts=None, desired_input_layouts=None, input_kwarg_layouts=None, "
    "desired_input_kwarg_layouts=None"
)
_NEW = (
    "dtype=None, layout='strided', requires_grad=False, device_mesh=None, "
    "placements=None)"
)
_OURS_NEW = _NEW.replace("'strided'", "None")

# Name -> arguments and defaults; `self` is left out
SIGNATURES = {
    "DTensor": "(local_tensor, spec, *, requires_grad)",
    "DTensor.__create_chunk_list__": "()",
    "DTensor.from_local": "(local_tensor, device_mesh=None, placements=None, *, "
    "run_check=False, shape=None, stride=None)",
    "DTensor.full_tensor": "(*, grad_placements=None)",
    "DTensor.redistribute": "(device_mesh=None, placements=None, *, async_op=False, "
    "forward_dtype=None, backward_dtype=None)",
    "DTensor.to_local": "(*, grad_placements=None)",
    "distribute_tensor": "(tensor, device_mesh=None, placements=None, *, "
    "src_data_rank=0)",
    "distribute_module": "(module, device_mesh=None, partition_fn=None, "
    "input_fn=None, output_fn=None)",
    "zeros": f"(*size, {_NEW}",
    "ones": f"(*size, {_NEW}",
    "empty": f"(*size, {_NEW}",
    "full": f"(size, fill_value, *, {_NEW}",
    "rand": f"(*size, {_NEW}",
    "randn": f"(*size, {_NEW}",
    "random.manual_seed": "(seed, device_mesh)",
    "placement_types.Shard": "(dim)",
    "placement_types.Replicate": "()",
    "placement_types.Partial": "(reduce_op='sum')",
    "placement_types.Placement": "()",
    "placement_types.Placement.is_partial": "()",
    "placement_types.Placement.is_replicate": "()",
    "placement_types.Placement.is_shard": "(dim=None)",
    "device_mesh.init_device_mesh": "(device_type, mesh_shape, *, "
    "mesh_dim_names=None, backend_override=None)",
    "device_mesh.DeviceMesh": "(device_type, mesh, *, mesh_dim_names=None, "
    "backend_override=None, _init_backend=True, _rank=None)",
    "device_mesh.DeviceMesh.from_group": "(group, device_type, mesh=None, *, "
    "mesh_dim_names=None)",
    "device_mesh.DeviceMesh.size": "(mesh_dim=None)",
    "device_mesh.DeviceMesh.get_rank": "()",
    "device_mesh.DeviceMesh.get_local_rank": "(mesh_dim=None)",
    "device_mesh.DeviceMesh.get_coordinate": "()",
    "device_mesh.DeviceMesh.get_group": "(mesh_dim=None)",
    "device_mesh.DeviceMesh.get_all_groups": "()",
    "debug.CommDebugMode": "()",
    "debug.CommDebugMode.generate_comm_debug_tracing_table": "(noise_level=3)",
    "debug.CommDebugMode.generate_json_dump": "(file_name='comm_mode_log.json', "
    "noise_level=3)",
    "debug.CommDebugMode.get_comm_counts": "()",
    "debug.CommDebugMode.get_parameter_info": "()",
    "debug.CommDebugMode.get_sharding_info": "()",
    "debug.CommDebugMode.get_total_counts": "()",
    "debug.CommDebugMode.log_comm_debug_tracing_table_to_file": "("
    "file_name='comm_mode_log.txt', noise_level=3)",
    "debug.visualize_sharding": "(dtensor, header='', use_rich=False)",
    "experimental.context_parallel": "(mesh, *, buffers=None, buffer_seq_dims=None, "
    "no_restore_buffers=None)",
    "experimental.implicit_replication": "()",
    "experimental.local_map": "(func, out_placements, in_placements=None, "
    "in_grad_placements=None, device_mesh=None, *, redistribute_inputs=False)",
    "experimental.register_sharding": "(op)",
    "experimental.attention.context_parallel_unshard": "(mesh, buffers, seq_dims, "
    "load_balancer=None)",
    "experimental.attention.set_rotate_method": "(rotate_method)",
    "experimental.tp_transform.tensor_parallel_transformation": "(exported_program, "
    "rank, world_size, device_type, parallel_strategies)",
    "parallel.parallelize_module": "(module, device_mesh=None, "
    "parallelize_plan=None, *, src_data_rank=0)",
    "parallel.input_reshard": "(module, tp_device_mesh, input_reshard_dim=None)",
    "parallel.loss_parallel": "()",
    "parallel.style.ColwiseParallel": _LAYERS.format("Replicate()", "Shard(-1)"),
    "parallel.style.RowwiseParallel": _LAYERS.format("Shard(-1)", "Replicate()"),
    "parallel.style.SequenceParallel": "(*, sequence_dim=1, use_local_output=False)",
    "parallel.style.PrepareModuleInput": f"(*, {_INPUTS}, use_local_output=False)",
    "parallel.style.PrepareModuleOutput": "(*, output_layouts, "
    "desired_output_layouts, use_local_output=True)",
    "parallel.style.PrepareModuleInputOutput": f"(*, {_INPUTS}, "
    "use_local_input=False, output_layouts, desired_output_layouts, "
    "use_local_output=True)",
    "parallel.style.PairwiseParallel": "(_prepare_input=make_input_replicate_1d, "
    "_prepare_output=make_output_tensor)",
    "parallel.style.PairwiseSequenceParallel": "()",
    "parallel.style.make_input_replicate_1d": "(input, device_mesh=None)",
    "parallel.style.make_input_reshard_replicate": "(input, device_mesh=None)",
    "parallel.style.make_input_shard_1d": "(input, device_mesh=None, dim=0)",
    "parallel.style.make_input_shard_1d_last_dim": "(input, device_mesh=None)",
    "parallel.style.make_output_replicate_1d": "(output, device_mesh=None)",
    "parallel.style.make_output_reshard_tensor": "(output, device_mesh=None)",
    "parallel.style.make_output_shard_1d": "(output, device_mesh=None, dim=0)",
    "parallel.style.make_output_tensor": "(output, device_mesh=None)",
    "parallel.multihead_attention_tp.TensorParallelMultiheadAttention": "(embed_dim, "
    "num_heads, dropout=0.0, bias=True, add_bias_kv=False, add_zero_attn=False, "
    "kdim=None, vdim=None, batch_first=False, device=None, dtype=None, tp_size=1, "
    "self_attention=True)",
    "parallel.multihead_attention_tp.TensorParallelMultiheadAttention.forward": "("
    "query, key, value, key_padding_mask=None, need_weights=True, attn_mask=None, "
    "average_attn_weights=True)",
    "parallel.fsdp.enable_2d_with_fsdp": "()",
}

# Attributes that are no functions
ATTRIBUTES = {
    "DTensor": "device_mesh placements",
    "device_mesh.DeviceMesh": "mesh mesh_dim_names ndim shape",
    "placement_types.Shard": "dim",
    "placement_types.Partial": "reduce_op",
}

_STRIDED = "`layout` may be `None`, which is `torch.strided`"
_PREPARED = "2.0's `_prepare_input`, `_prepare_output` beside the layouts"
_OURS_LAYERS = (
    "(_prepare_input=None, _prepare_output=None, *, input_layouts=None, "
    "output_layouts=None, use_local_output=True)"
)

# Name -> our arguments, and the words of docs/torch_parity.md that say so
DIFFERENT = {
    "zeros": (f"(*size, {_OURS_NEW}", _STRIDED),
    "ones": (f"(*size, {_OURS_NEW}", _STRIDED),
    "empty": (f"(*size, {_OURS_NEW}", _STRIDED),
    "full": (f"(size, fill_value, *, {_OURS_NEW}", "as above"),
    "rand": (f"(*size, {_OURS_NEW}", "arguments as above"),
    "randn": (f"(*size, {_OURS_NEW}", "arguments as above"),
    "random.manual_seed": ("(seed, device_mesh=None)", "`device_mesh` may be left out"),
    "placement_types.Placement.is_partial": (
        "(reduce_op=None)",
        "`is_partial(reduce_op=None)` as in newer versions",
    ),
    "experimental.local_map": (
        "(func=None, out_placements=None, in_placements=None, "
        "in_grad_placements=None, device_mesh=None, *, redistribute_inputs=False)",
        "without `func` a decorator, as in newer versions",
    ),
    "parallel.parallelize_module": (
        "(module, device_mesh=None, parallelize_plan=None, tp_mesh_dim=None, *, "
        "src_data_rank=0)",
        "`tp_mesh_dim`, as in 2.0",
    ),
    "parallel.style.ColwiseParallel": (_OURS_LAYERS, _PREPARED),
    "parallel.style.RowwiseParallel": (_OURS_LAYERS, _PREPARED),
}
