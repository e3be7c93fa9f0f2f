"""How are texts and simple formats written, that need no grammar?

For the style ``sections``, ``tags`` is a regular expression: a line that matches begins a section, and its
first group that is not empty is the section's name.
"""

from indexer.languages.language import Language

__all__ = ["PLAIN"]


def _sections(
    name: str, extensions: tuple[str, ...], begins: str, filenames: tuple[str, ...] = ()
) -> Language:
    return Language(name=name, extensions=extensions, filenames=filenames, style="sections", tags=begins)


def _lines(name: str, *extensions: str, filenames: tuple[str, ...] = ()) -> Language:
    return Language(name=name, extensions=extensions, filenames=filenames, style="lines")


_MARKDOWN = (".md", ".markdown", ".mdx", ".mdown", ".qmd", ".rmd")
_BLOCK = r"(?:\w+\s+)*?"

PLAIN: tuple[Language, ...] = (
    Language(name="markdown", extensions=_MARKDOWN, style="markdown"),
    Language(name="rst", extensions=(".rst", ".rest"), style="underlines"),
    Language(
        name="text",
        extensions=(".txt", ".text", ".log", ".org", ".tex"),
        filenames=(
            "README",
            "LICENSE",
            "COPYING",
            "NOTICE",
            "AUTHORS",
            "CHANGELOG",
            "CHANGES",
            "TODO",
            "NEWS",
        ),
        style="paragraphs",
    ),
    _sections("asciidoc", (".adoc", ".asciidoc"), r"={1,6}\s+(\S.*)"),
    _sections(
        "toml", (".toml",), r"\s*\[+([^\[\]]+)\]+", ("Cargo.lock", "poetry.lock", "uv.lock", "Pipfile")
    ),
    _sections("ini", (".ini", ".cfg", ".conf", ".properties", ".editorconfig"), r"\s*\[([^\]]+)\]"),
    _sections("yaml", (".yaml", ".yml"), r"([\w.\"'/-][^\s:#]*)\s*:(?:\s|$)"),
    _sections(
        "sql",
        (".sql", ".ddl", ".surql"),
        r"(?i)\s*(?:create|alter|define)\s+(?:or\s+replace\s+)?(?:(?:temp|temporary|unique|materialized)\s+)*"
        r"(?:table|view|function|procedure|trigger|index|type|schema|field|event)\s+"
        r"(?:(?:if\s+not\s+exists|if\s+exists|only|overwrite)\s+)*([\w.\"`\[\]]+)",
    ),
    _sections(
        "makefile", (".mk", ".mak"), r"([\w./%$(){}-]+)\s*:(?!=)", ("Makefile", "makefile", "GNUmakefile")
    ),
    _sections(
        "dockerfile", (".dockerfile",), r"(?i)from\s+(?:\S+\s+as\s+)?(\S+)", ("Dockerfile", "Containerfile")
    ),
    _sections("proto", (".proto",), r"(?:message|service|enum|extend)\s+(\w+)"),
    _sections(
        "graphql",
        (".graphql", ".gql"),
        r"(?:extend\s+)?(?:type|interface|enum|input|union|scalar|directive|query|mutation|fragment)\s+(@?\w+)",
    ),
    _sections("terraform", (".tf", ".tfvars", ".hcl"), r"\w+\s+((?:\"[^\"]+\"\s*){1,2})\{"),
    _sections("css", (".css", ".scss", ".sass", ".less"), r"([^\s{}/*][^{};]*?)\s*\{"),
    _sections("thrift", (".thrift",), r"(?:struct|service|enum|exception|union)\s+(\w+)"),
    _sections(
        "dart", (".dart",), rf"{_BLOCK}(?:class|mixin|enum|extension)\s+(\w+)|[\w<>?, ]+\s(\w+)\([^;]*$"
    ),
    _sections("r", (".r",), r"([\w.]+)\s*(?:<-|=)\s*function\b"),
    _sections(
        "julia",
        (".jl",),
        rf"{_BLOCK}(?:function|struct|module|macro|type)\s+([\w.!]+)|([\w.!]+)\(.*\)\s*=[^=]",
    ),
    _sections("perl", (".pl", ".pm", ".t"), r"(?:sub|package)\s+([\w:]+)"),
    _sections(
        "objective-c",
        (".m", ".mm"),
        r"@(?:interface|implementation|protocol)\s+(\w+)|[-+]\s*\([^)]*\)\s*(\w+)",
    ),
    _sections("matlab", (), r"\s*(?:function|classdef)\b[^=\n]*?=?\s*(\w+)\s*(?:\(|$|<)"),
    _sections(
        "ocaml", (".ml", ".mli"), r"(?:let|module|type|val|class|exception)\s+(?:rec\s+|type\s+)?(\w+)"
    ),
    _sections(
        "fsharp",
        (".fs", ".fsx", ".fsi"),
        r"\s{0,4}(?:let|module|type|member|namespace)\s+(?:rec\s+|inline\s+)?([\w.]+)",
    ),
    _sections("clojure", (".clj", ".cljs", ".cljc", ".edn"), r"\((?:def\S*|ns)\s+(?:\^\S+\s+)?([^\s()]+)"),
    _sections("lisp", (".lisp", ".el", ".scm", ".rkt"), r"\((?:def\S*|cl-def\S*)\s+\(?([^\s()]+)"),
    _sections("erlang", (".erl", ".hrl"), r"([a-z]\w*)\(.*(?:->|when|$)"),
    _sections("powershell", (".ps1", ".psm1", ".psd1"), r"(?i)\s*(?:function|class|filter)\s+([\w:-]+)"),
    _sections(
        "groovy",
        (".groovy", ".gradle"),
        rf"\s{{0,4}}{_BLOCK}(?:class|interface|def|void)\s+(\w+)|(\w+)\s*\{{",
    ),
    _sections(
        "solidity",
        (".sol",),
        r"\s{0,4}(?:abstract\s+)?(?:contract|library|interface|function|struct|event|modifier)\s+(\w+)",
    ),
    _sections("nim", (".nim",), r"(?:proc|func|method|template|macro|iterator|type)\s+([\w`]+)"),
    _sections(
        "cmake",
        (".cmake",),
        r"(?i)(?:function|macro|add_\w+|project)\s*\(\s*([\w${}:.-]+)",
        ("CMakeLists.txt",),
    ),
    _sections("vim", (".vim",), r"\s*(?:function|func|command)!?\s+([\w:#.<>]+)"),
    _lines("json", ".json", ".jsonc", ".json5", ".jsonl", ".ipynb", ".geojson"),
    _lines(
        "html", ".html", ".htm", ".xhtml", ".jinja", ".j2", ".erb", ".ejs", ".hbs", ".mustache", ".liquid"
    ),
    _lines(
        "xml",
        ".xml",
        ".xsd",
        ".xsl",
        ".svg",
        ".plist",
        ".csproj",
        ".props",
        ".targets",
        ".storyboard",
        ".xib",
    ),
    _lines("vue", ".vue"),
    _lines("svelte", ".svelte"),
    _lines("astro", ".astro"),
    _lines("csv", ".csv", ".tsv"),
    _lines("nix", ".nix"),
    _lines("batch", ".bat", ".cmd"),
    _lines("fish", ".fish"),
    _lines("awk", ".awk"),
    _lines("assembly", ".s", ".asm"),
    _lines("prisma", ".prisma"),
    _lines("fortran", ".f", ".f90", ".f95", ".f03"),
    _lines("pascal", ".pas", ".dpr"),
    _lines("verilog", ".v", ".sv", ".vh"),
    _lines("vhdl", ".vhd", ".vhdl"),
    _lines("glsl", ".glsl", ".vert", ".frag", ".wgsl", ".hlsl"),
    _lines("starlark", ".bzl", ".bazel", ".star", filenames=("BUILD", "WORKSPACE")),
    _lines(
        "gitignore",
        ".gitignore",
        filenames=(".dockerignore", ".gitattributes", ".npmignore", ".memoryignore"),
    ),
    _lines("go.mod", filenames=("go.mod", "go.sum", "go.work")),
    _lines("diff", ".diff", ".patch"),
)
