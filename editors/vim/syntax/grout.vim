" Vim syntax file of grout kernels, written by 'grout ops --syntax vim'; a test compares.
if exists('b:current_syntax')
    finish
endif

syntax case match
setlocal iskeyword=@,48-57,_

syntax keyword groutFlow
    \ scratch
    \ for
    \ while
    \ cond
    \ if
    \ scoped
    \ warp_map
    \ warp_specialize
    \ yield
    \ step
    \ carry
    \ else
    \ do
    \ partition
syntax keyword groutOperation
    \ add
    \ sub
    \ mul
    \ div
    \ rem
    \ cdiv
    \ min
    \ max
    \ fma
    \ neg
    \ abs
    \ and
    \ or
    \ xor
    \ not
    \ shl
    \ shr
    \ eq
    \ ne
    \ lt
    \ le
    \ gt
    \ ge
    \ sqrt
    \ floor
    \ ceil
    \ round
    \ sign
    \ round_away
    \ copysign
    \ clamp
    \ is_finite
    \ clz
    \ popcount
    \ exp
    \ exp2
    \ expm1
    \ log
    \ log2
    \ log1p
    \ sin
    \ cos
    \ tanh
    \ rsqrt
    \ cbrt
    \ logistic
    \ erf
    \ atan2
    \ pow
    \ reduce_sum
    \ reduce_max
    \ reduce_min
    \ reduce_prod
    \ reduce_and
    \ reduce_or
    \ reduce_xor
    \ cumsum
    \ cumprod
    \ cummax
    \ cummin
    \ select
    \ cast
    \ bitcast
    \ broadcast
    \ layout_cast
    \ relayout
    \ iota
    \ slice
    \ reshape
    \ concatenate
    \ transpose
    \ extern_elementwise
    \ inline_ptx
    \ multiple_of
    \ axis_index
    \ load
    \ store
    \ masked_load
    \ masked_store
    \ gather
    \ scatter
    \ commit_smem
    \ fence_async_shared
    \ commit_gmem
    \ barrier_arrive
    \ barrier_test
    \ barrier_wait
    \ copy_gmem_to_smem
    \ copy_gmem_to_smem_im2col
    \ copy_smem_to_gmem
    \ tma_gather
    \ tma_scatter
    \ async_prefetch
    \ commit_group
    \ wait_smem_to_gmem
    \ async_copy
    \ async_masked_copy
    \ async_gather
    \ async_copy_commit_group
    \ async_copy_wait
    \ async_copy_arrive
    \ async_store_smem
    \ tensor_descriptor
    \ make_tensor_descriptor
    \ tensormap_acquire
    \ mbarrier_init
    \ mbarrier_expect
    \ mbarrier_arrive
    \ mbarrier_arrive_drop
    \ mbarrier_expect_drop
    \ mbarrier_wait
    \ mbarrier_test
    \ mbarrier_invalidate
    \ block_barrier
    \ named_barrier_sync
    \ named_barrier_arrive
    \ cluster_arrive
    \ cluster_wait
    \ cluster_barrier
    \ griddepcontrol_wait
    \ griddepcontrol_launch_dependents
    \ semaphore_signal
    \ semaphore_wait
    \ semaphore_read
    \ try_cluster_cancel
    \ query_cluster_cancel
    \ atomic_add
    \ atomic_max
    \ atomic_min
    \ atomic_and
    \ atomic_or
    \ atomic_xor
    \ atomic_scatter_add
    \ atomic_scatter_max
    \ atomic_scatter_min
    \ atomic_scatter_and
    \ atomic_scatter_or
    \ atomic_scatter_xor
    \ atomic_scatter_exchange
    \ atomic_fetch_add
    \ atomic_fetch_max
    \ atomic_fetch_min
    \ atomic_fetch_and
    \ atomic_fetch_or
    \ atomic_fetch_xor
    \ atomic_exchange
    \ atomic_cas
    \ mma
    \ wgmma
    \ wgmma_async
    \ wgmma_sp
    \ wgmma_sp_async
    \ wgmma_wait
    \ acc_load
    \ acc_store
    \ tcgen05_mma
    \ tcgen05_mma_scaled
    \ tcgen05_mma_sp
    \ tcgen05_mma_sp_scaled
    \ async_copy_smem_to_tmem
    \ async_copy_scales_to_tmem
    \ async_copy_sparse_metadata_to_tmem
    \ tcgen05_commit_arrive
    \ async_load_tmem
    \ wait_load_tmem
    \ async_store_tmem
    \ commit_tmem
    \ set_max_registers
    \ delay
    \ debug_check
    \ debug_print
    \ print_layout
syntax keyword groutType
    \ bool
    \ i4
    \ u4
    \ i8
    \ u8
    \ i16
    \ u16
    \ i32
    \ u32
    \ i64
    \ u64
    \ f4e2m1
    \ f6e2m3
    \ f6e3m2
    \ f8e4m3
    \ f8e5m2
    \ f8e8m0
    \ f16
    \ bf16
    \ f32
    \ f64
syntax keyword groutStorage
    \ smem
    \ acc
    \ tmem
    \ gmem
    \ barrier
    \ mbarrier
    \ semaphore
    \ arrivals
    \ global
    \ orders_tensor_core
    \ packed
    \ padded
    \ two_ctas
    \ scales
    \ split_scales
    \ metadata
    \ tile
    \ infer
    \ swizzle
    \ alias
    \ layout
    \ ds
syntax keyword groutModule
    \ grout
    \ const
    \ require
    \ kernel
    \ launch
    \ dependent
    \ check
    \ against
    \ rtol
    \ atol
    \ attr
    \ in
    \ out
    \ inout
    \ init
    \ grid
    \ cluster
    \ threads
syntax keyword groutConstant
    \ true
    \ false
    \ inf
    \ nan
syntax keyword groutCall
    \ align_up
syntax keyword groutAttribute
    \ dim
    \ contiguous
    \ perm
    \ reverse
    \ exclusive
    \ approx
    \ wgmma_8bit
    \ wgmma_row
    \ wgmma_col
    \ wg_strided
    \ saturate
    \ wait
    \ increase
    \ decrease
    \ read_only
    \ no_commit_group
    \ count
    \ lanes
    \ collective
    \ collective_axes
    \ collective_axis
    \ leader_tracked
    \ partitioned
    \ multicast
    \ reduce
    \ oob
    \ pixels
    \ order
    \ scope
    \ no_decrement
    \ from_cta
    \ unroll
syntax keyword groutChoice
    \ wgmma_transposed
    \ wgmma_upcast_2x
    \ wgmma_upcast_4x
    \ wgmma_metadata
    \ wgmma_metadata_8bit
    \ mma_lhs_32bit
    \ mma_rhs_32bit
    \ mma_rhs_16bit
    \ mma_rhs_8bit
    \ tmem_row
    \ inc
    \ dec
    \ zero
    \ undefined
    \ in_bounds
    \ relaxed
    \ acquire
    \ release
    \ acq_rel
    \ cta
    \ gpu
    \ sys
syntax keyword groutGenerator
    \ ints
    \ zeros
    \ ones
    \ arange
    \ randn
    \ uniform

" '%' and a blank is the remainder of a division.
syntax match groutValue '%\w\+'
syntax match groutKernel '@\a\w*'
syntax match groutAttribute '\<\%(arch\|cluster_exit\|auto_fence\|partition_warps\)\>\%(\s*=\s*\%(sync\|none\)\>\)\='
syntax match groutNumber '\<\d\+\%(\.\d\+\)\=\%([eE][+-]\=\d\+\)\=\>'
syntax match groutNumber '\<0[xX]\x\+\%(\.\x\+\)\=\%([pP][+-]\=\d\+\)\=\>'
syntax region groutString start='"' skip='\\.' end='"' oneline
syntax match groutComment '//.*$' contains=groutMark,@Spell
syntax match groutMark '\%(//\s*\)\@<=\%(expect\%(-\w\+\)\=\|run\|allow\):' contained

highlight default link groutValue Identifier
highlight default link groutKernel Special
highlight default link groutNumber Number
highlight default link groutString String
highlight default link groutComment Comment
highlight default link groutMark SpecialComment
highlight default link groutFlow Statement
highlight default link groutOperation Function
highlight default link groutType Type
highlight default link groutStorage StorageClass
highlight default link groutModule Keyword
highlight default link groutConstant Boolean
highlight default link groutCall Function
highlight default link groutAttribute PreProc
highlight default link groutChoice Constant
highlight default link groutGenerator Constant

let b:current_syntax = 'grout'
