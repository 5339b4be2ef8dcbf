from os import PathLike
from typing import Any, Callable, Iterable, Iterator, Mapping, NamedTuple, Optional, Union

_Path = Union[str, bytes, PathLike[str], PathLike[bytes]]
_Names = Union[None, str, Iterable[str]]

class Error(Exception):
    file: str
    reason: str

class DamageWarning(UserWarning):
    file: str
    offset: Optional[int]
    text: str

class LossWarning(UserWarning):
    file: str
    lost: dict[str, int]

class File(NamedTuple):
    name: str
    kind: str
    events: int
    first: Optional[int]
    last: Optional[int]
    overwritten: int
    laps: int
    damaged: int
    damage: list[tuple[int, str]]
    lost: dict[str, int]
    pid: Optional[int]
    host: Optional[str]
    facts: dict[str, str]
    boot_id: Optional[str]
    wall_offset: Optional[int]
    size: int
    size_real: int
    word_bits: int
    swapped: bool

class Probe:
    @property
    def name(self) -> str: ...
    @property
    def file(self) -> str: ...
    @property
    def keys(self) -> tuple[str, ...]: ...
    @property
    def attributes(self) -> Mapping[str, str]: ...
    @property
    def members(self) -> tuple[tuple[str, str], ...]: ...

class Event:
    @property
    def time(self) -> int: ...
    @property
    def pid(self) -> int: ...
    @property
    def lwpid(self) -> int: ...
    @property
    def tid(self) -> int: ...
    @property
    def cpu(self) -> Optional[int]: ...
    @property
    def kernel(self) -> bool: ...
    @property
    def probe(self) -> Probe: ...
    @property
    def args(self) -> dict[str, Any]: ...
    def get(self, name: str, default: Any = None) -> Any: ...
    def __getitem__(self, name: str) -> Any: ...
    def __contains__(self, name: object) -> bool: ...

class Events(Iterator[Event]):
    def __next__(self) -> Event: ...

class Trace(Iterable[Event]):
    def __init__(self, files: Union[_Path, Iterable[_Path]],
                 where: Union[None, str, Callable[[Event], object]] = None,
                 *, salvage: bool = False) -> None: ...
    @property
    def files(self) -> tuple[File, ...]: ...
    @property
    def probes(self) -> tuple[Probe, ...]: ...
    @property
    def closed(self) -> bool: ...
    def __iter__(self) -> Events: ...
    def __enter__(self) -> Trace: ...
    def __exit__(self, *exc: object) -> None: ...
    def close(self) -> None: ...
    def columns(self, probe: _Names = None) -> list[
        tuple[str, str, Union[bytearray, list[Any]], Optional[bytearray], Optional[list[Any]]]]: ...
    def to_numpy(self, probe: _Names = None) -> dict[str, Any]: ...
    def to_pandas(self, probe: _Names = None) -> Any: ...

class CutStr(str):
    cut: bool

class CutBytes(bytes):
    cut: bool

class Recorder:
    @property
    def name(self) -> str: ...
    @property
    def available(self) -> bool: ...
    def __bool__(self) -> bool: ...
    def __call__(self, *values: Any, **named: Any) -> None: ...

_Kind = Union[type[int], type[float], type[str], type[bytes], type[bool], str]

def probe(name: str, /, keys: str = "", detail: str = "", *,
          args: Optional[Mapping[str, _Kind]] = None, **types: _Kind) -> Recorder: ...

def open(files: Union[_Path, Iterable[_Path]],
         where: Union[None, str, Callable[[Event], object]] = None,
         *, salvage: bool = False) -> Trace: ...
