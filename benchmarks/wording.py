"""With which words do coding agents write down what they learnt?

Sentence patterns and word lists for ``benchmarks.corpus``. A slot in braces is drawn once a memory, so a
pattern and the question about it speak of the same thing; ``{service}`` and ``{service2}`` are two draws.
"""

# ruff: noqa: E501  (a pattern is easier to read on one line)

from dataclasses import dataclass
from typing import Literal

__all__ = ["ADDITIONS", "KINDS", "WORDS", "Kind"]


@dataclass(frozen=True, slots=True)
class Kind:
    """One sort of memory: how it is written, and how someone asks for it later in other words."""

    memory_type: Literal["episodic", "semantic", "procedural"]
    texts: tuple[str, ...]
    questions: tuple[str, ...]


KINDS: tuple[Kind, ...] = (
    Kind(
        "semantic",
        (
            "We decided to move {service} from {tool} to {tool2} because {reason}; {person} signed it off in {ticket}.",
            "Decision of {month}: {service} stays on {tool} for now. {tool2} was tried by {person} and {reason}.",
            "After the review {person} chose {tool} over {tool2} as the {noun} of {service}, since {reason}.",
        ),
        (
            "why does {service} not run on {tool2}?",
            "what was the argument about {tool} and {tool2} for {service}?",
            "who settled whether {service} uses {tool}?",
        ),
    ),
    Kind(
        "episodic",
        (
            "{service} crashed with {error} whenever {condition}. The cause was {cause} in {path}; fixed in {version}.",
            "Found the {adjective} {noun} bug of {service}: {identifier} in {path} raised {error} when {condition}.",
            "Regression in {service} {version}: {error} appears because {identifier} meets {cause}. "
            "{person} reverted {commit}.",
        ),
        (
            "what makes {service} fail with {error}?",
            "how was the problem around {identifier} and {error} solved?",
            "what went wrong in {service} {version}?",
        ),
    ),
    Kind(
        "semantic",
        (
            "{person} prefers {preference} over {preference2} in {area} code, as {ticket} and {ticket3} show.",
            "Style in {service}: {preference}, never {preference2}. {person} is strict about that in {area} code.",
            "When working with {person} on {area}, use {preference}; {preference2} was rejected in {ticket}.",
        ),
        (
            "how does {person} like {area} code to be written?",
            "which style should I follow for {area} in {service}?",
            "what would {person} object to in a review?",
        ),
    ),
    Kind(
        "procedural",
        (
            "To {task} on {service}, run `{command}` first, then {task2}. It needs {variable} to be set.",
            "How to {task}: open {path}, change {identifier}, then `{command}`. {person} wrote it up in {ticket}.",
            "Before you {task} for {service}, {task2}; otherwise {condition} and {error} comes back.",
        ),
        (
            "how do I {task} for {service}?",
            "which steps are needed to {task}?",
            "what has to happen before one can {task} with {service}?",
        ),
    ),
    Kind(
        "semantic",
        (
            "{variable} of {service} is {number} {unit} in production; {person} raised it after {condition}.",
            "The {adjective} {noun} of {service} is bounded by {variable} ({number} {unit}), read in {path}.",
            "Set {variable} to {number} on {host}, because with the default {condition} and {service} stalls.",
        ),
        (
            "what is the value of {variable} for {service}?",
            "which setting bounds {service}, and how large is it?",
            "why was {variable} changed?",
        ),
    ),
    Kind(
        "semantic",
        (
            "{identifier} in {path} is where {service} decides about the {adjective} {noun}; {identifier2} only caches it.",
            "The {noun} of {service} lives in {path}: {identifier} builds it and {identifier2} tears it down.",
            "Do not call {identifier} from {area} code; {identifier2} in {path} takes the {noun} lock, {reason}.",
        ),
        (
            "where does {service} handle the {noun}?",
            "what is {identifier} for?",
            "which function takes care of the {noun} in {path}?",
        ),
    ),
    Kind(
        "episodic",
        (
            "On {weekday} {service} was down for {number} minutes: {host} ran out of {resource} after {cause}.",
            "Incident {ticket}: {customer} saw {error} from {service} because {condition}. {person} restarted {host}.",
            "{person} found {service} slow on {host}; {resource} was exhausted by {cause}, {version} helps.",
        ),
        (
            "what happened to {service} on {weekday}?",
            "which outage did {customer} notice, and who dealt with it?",
            "why did {host} run out of {resource}?",
        ),
    ),
    Kind(
        "semantic",
        (
            "{customer} needs {feature} in {service} before {month}; {person} promised it in {ticket}.",
            "For {customer} we keep {version} of {service} alive, since {reason}. {person} owns the account.",
            "{customer} sends {number} {unit} of {noun} data a day through {service}, mostly from {host}.",
        ),
        (
            "what was promised to {customer}?",
            "which release must stay available for {customer}, and why?",
            "how much data comes from {customer}?",
        ),
    ),
)
"""Sorts of memories; each question is about its own memory, whichever wording that has."""

ADDITIONS: tuple[str, ...] = (
    "See {path2} and {ticket2}.",
    "{person2} knows the history.",
    "Ask {person2} before touching {identifier3}.",
    "The {adjective2} {noun2} still {verb} the {noun3} {adverb}.",
    "It took {number2} {unit2} to notice, because the {noun2} {verb} nothing.",
    "{customer2} reported the same with {version2}.",
    "Related: {service2} reads the {noun2} of {service3}.",
    "The test for it is {identifier3} in {path2}.",
    "Check with `{command2}`.",
    "Until {month2} the {adjective2} {noun2} {verb} it {adverb}, later {service2} took over.",
    "Nobody remembers why {variable2} is {number2}.",
)
"""Sentences that make some memories longer."""

_LISTS = {
    "adjective": """stale slow idle broken partial nested hidden remote local shared global lazy eager signed
        cached empty huge tiny duplicate missing early late strict loose frozen dirty clean public private
        pending stuck flaky atomic async batched compressed encrypted federated incremental legacy nightly
        optional orphaned paged quiet rolling sparse dense temporary typed verbose weekly experimental""",
    "noun": """queue cache index token session schema bucket shard replica cursor handler worker scheduler
        parser router gateway payload header footer socket buffer stream thread lock mutex lease quota
        budget ledger invoice receipt order basket webhook callback cookie login password secret key
        certificate domain tenant region zone cluster node pod container image layer volume snapshot backup
        archive manifest pipeline stage job runner artifact release branch commit tag diff patch rebase
        migration column table view trigger row record document chunk vector embedding ranking query filter
        facet suggestion spelling synonym stemmer tokenizer alphabet encoding locale currency rounding
        timestamp calendar holiday timezone offset interval window deadline timeout retry backoff circuit
        breaker throttle limiter counter gauge histogram span trace metric alert dashboard panel report
        export import upload download thumbnail avatar gallery carousel modal tooltip sidebar toolbar menu
        theme palette font icon layout grid animation transition gesture keyboard shortcut clipboard
        notification inbox digest newsletter survey onboarding checkout refund voucher discount loyalty
        referral audit consent retention policy permission role group membership invitation directory""",
    "verb": """blocks drops doubles hides holds leaks locks loses masks moves outlives overwrites pins
        reads rejects renames repeats replaces resets reuses rewrites rounds skips splits swallows
        swaps trims truncates waits wakes wraps""",
    "adverb": """again always badly early halfway late nightly often once quietly rarely silently slowly
        sometimes today twice upstream usually downstream overnight""",
    "weekday": "Monday Tuesday Wednesday Thursday Friday Saturday Sunday",
    "month": "January February March April May June July August September October November December",
    "unit": "ms seconds minutes hours days MB GB rows requests connections workers retries tokens pages",
    "resource": "memory disk inodes sockets threads handles bandwidth connections quota entropy swap",
    "tool": """Postgres MySQL SQLite Redis Kafka RabbitMQ NATS Elasticsearch Tantivy DuckDB ClickHouse
        Cassandra MongoDB SurrealDB Terraform Ansible Nomad Kubernetes Docker Podman Nginx Envoy HAProxy
        Caddy Prometheus Grafana Loki Jaeger Sentry Vault Consul Temporal Airflow Dagster Celery Sidekiq
        FastAPI Django Flask Rails Spring Ktor Axum Actix Express Fastify Svelte React Vue Angular Solid
        Vite Webpack esbuild Bazel Gradle Maven Poetry uv Cargo npm pnpm Bun Deno Pytest Jest Playwright
        Cypress Selenium GraphQL gRPC Thrift Avro Protobuf Parquet Arrow Spark Flink Beam""",
    "given": """Ada Aiko Amara Anton Astrid Beatriz Boris Camila Chidi Dalia Daniel Elif Emil Esther Farid
        Fatima Felix Freya Gita Hana Hassan Hugo Ines Ivan Jamal Jana Joana Jonas Kai Karin Kofi Lars Leila
        Lin Luca Magda Malik Maren Mateo Mei Milan Mina Nadia Naveen Nora Olga Omar Oskar Paula Pavel Petra
        Priya Quentin Rana Ravi Rosa Ruben Sana Sara Selim Simon Sofia Stefan Tamar Tariq Tessa Theo Tomas
        Uma Vera Viktor Wanda Xenia Yara Yusuf Zara Zoran""",
    "extension": "py py py ts ts rs go java kt tsx sql yaml toml md sh",
    "folder": "src lib core api app server client web jobs infra deploy scripts tests tools docs internal pkg cmd",
    "verb_of_code": """load save fetch parse build make merge split check apply reset open close read write
        push pop sync scan rank score index flush drain retry send receive resolve render encode decode""",
}
_PHRASES = {
    "reason": """it keeps the build reproducible | nobody could operate the other one | licences got too expensive |
        tail latency was three times lower | it survives a power cut | backups take minutes instead of hours |
        the driver leaks connections | it has no locks across regions | audits demand it | schema changes are online |
        the team already knows it | the vendor stopped answering | it needs half the memory | failover is automatic |
        upgrades broke us twice | it compiles in seconds | queries stay predictable | the client library is typed""",
    "condition": """two deploys overlap | the clock jumps back | a client disconnects early | the disk is full |
        the first request arrives before warm-up | an empty list is posted | a name contains an emoji |
        the replica lags behind | the token expires mid-request | the payload exceeds one megabyte |
        daylight saving ends | a job is retried | the cache is cold | a column is null | the leader changes |
        someone pastes a URL | three workers start at once | the network flaps | the migration is half done""",
    "cause": """an unclosed cursor | a race between two writers | a missing index | integer overflow |
        a default argument shared by all calls | an off-by-one in paging | a stale certificate | double encoding |
        a forgotten await | a lock taken in the wrong order | a timezone-naive comparison | an unbounded retry loop |
        log rotation | a wrong collation | a regular expression that backtracks | a dropped foreign key |
        a cache key without the tenant | float rounding | a swallowed exception | a leaked file handle""",
    "preference": """small pull requests | early returns | explicit types | frozen dataclasses | plain functions |
        composition | snapshot tests | table-driven tests | property tests | tabs | four spaces | single quotes |
        long descriptive names | short functions | no comments | comments that say why | squash merges |
        rebased branches | conventional commits | constructor injection | environment variables | feature flags |
        structured logs | exceptions | result types | async handlers | raw SQL | an ORM | generated clients""",
    "area": """billing | search | login | onboarding | checkout | reporting | mobile | frontend | backend | infrastructure |
        database | networking | indexing | caching | messaging | logging | testing | deployment | payments | admin""",
    "task": """rotate the signing keys | restore a backup | add a tenant | run the migrations | replay the queue |
        rebuild the index | cut a release | roll back a deploy | drain a node | renew the certificate |
        import a customer | anonymise a dump | warm the cache | profile a request | regenerate the client |
        bump the schema | seed the database | move a shard | mute an alert | raise the quota |
        record a fixture | update the lock file | bisect a regression | onboard a newcomer""",
    "feature": """single sign-on | audit logs | bulk export | a webhook per event | row-level permissions |
        offline mode | dark mode | CSV import | two-factor login | custom domains | usage reports | data residency |
        a sandbox | partial refunds | scheduled reports | an approval step | saved searches | rate limits per key""",
    "program": "make | just | cargo | uv run | npm run | docker compose | kubectl | terraform | pytest | psql | git",
}

WORDS: dict[str, tuple[str, ...]] = {name: tuple(text.split()) for name, text in _LISTS.items()} | {
    name: tuple(phrase.strip() for phrase in text.split("|")) for name, text in _PHRASES.items()
}
"""What fills the slots that are not coined."""
