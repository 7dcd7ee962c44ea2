"""Named tuples of arrays handed from part to part of a kernel by their address.

As they are, numba hands over every number of every array (hundreds, at every call) and counts who holds each. That took
longer to compile, and half of the time of kernels whose parts are short.
"""

from __future__ import annotations

from typing import Any

import numba
from numba.core import cgutils, types
from numba.core.types.containers import BaseNamedTuple, BaseTuple
from numba.core.types.npytypes import Array
from numba.core.typing.templates import AttributeTemplate
from numba.extending import infer_getattr, intrinsic, lower_getattr_generic, models, register_model


class Lent(types.Type):  # type: ignore[misc, name-defined, unused-ignore]
    """The address of a named tuple; its members are read by their names."""

    def __init__(self, given: Any) -> None:
        self.given = given
        super().__init__(name=f"Lent({given})")

    def member(self, name: str) -> tuple[int, Any]:
        """Where a member stands, and its type: of a named tuple within, its address."""
        at = self.given.fields.index(name)
        kind = self.given.types[at]
        return at, Lent(kind) if isinstance(kind, BaseNamedTuple) else kind


@register_model(Lent)
class _Address(models.PrimitiveModel):  # type: ignore[misc, unused-ignore]
    def __init__(self, manager: Any, kind: Lent) -> None:
        super().__init__(manager, kind, manager.lookup(kind.given).get_value_type().as_pointer())


@infer_getattr
class _Members(AttributeTemplate):  # type: ignore[misc, unused-ignore]
    key = Lent

    def generic_resolve(self, kind: Lent, name: str) -> Any:
        return kind.member(name)[1] if name in kind.given.fields else None


def _member(context: Any, builder: Any, kind: Lent, address: Any, name: str) -> Any:
    at, member = kind.member(name)
    # its callers are optimised again with all that is written into them
    builder.function.attributes.add("noinline")
    found = cgutils.gep_inbounds(builder, address, 0, at)
    # arrays that are lent are not counted: there is nothing to be counted up
    return found if isinstance(member, Lent) else builder.load(found)


lower_getattr_generic(Lent)(_member)


def _uncounted(context: Any, builder: Any, kind: Any, value: Any) -> Any:
    if isinstance(kind, Array):
        array = context.make_array(kind)(context, builder, value)
        array.meminfo = array.meminfo.type(None)
        value = array._getvalue()
    for i, each in enumerate(kind if isinstance(kind, BaseTuple) else ()):
        value = builder.insert_value(value, _uncounted(context, builder, each, builder.extract_value(value, i)), i)
    return value


def _lend(context: Any, given: Any) -> Any:
    def lent(inner: Any, builder: Any, signature: Any, values: Any) -> Any:
        with builder.goto_entry_block():
            place = builder.alloca(values[0].type)
        builder.store(_uncounted(inner, builder, given, values[0]), place)
        return place

    return Lent(given)(given), lent


lend: Any = (lambda given: given) if numba.config.DISABLE_JIT else intrinsic(_lend)
"""Lend a named tuple to the parts of one kernel: as long as it runs, who called it holds the arrays."""
