"""What each language's snippet is cut into, and what it defines; read beside ``snippets/``.

A chunk is written ``lines type breadcrumb/name``, a definition ``lines kind scope/name``.
"""

CHUNKS: dict[str, str] = {
    "Cart.php": """
        1-11 module /MAX_LINES
        12-19 interface /Countable
        20-29 trait /Logs
        30-40 enum /Status
        41-86 class /Cart
        87-90 function /total
    """,
    "Graph.scala": """
        1-5 module /
        6-11 trait /Edge
        12-15 class /Directed
        16-22 object /Graph
        23-56 class /Graph
        57-59 enum /Color
        60-63 extension /String
        64-66 object /Ordering[Color]
    """,
    "Inventory.java": """
        1-5 module /
        6-14 class /Inventory
        15-19 constructor Inventory/Inventory
        20-25 method Inventory/count
        26-37 method Inventory/mapAll
        38-49 method Inventory/move
        50-58 record Inventory/Slot
        59-67 class Inventory/Shelf
        68-75 interface /Item
        76-89 enum /State
        90-92 interface /Audited
    """,
    "Orders.cs": """
        1-4 module /
        5-8 type Acme.Shop/OrderPlaced
        9-11 record Acme.Shop/OrderLine
        12-13 enum Acme.Shop/OrderState
        14-18 interface Acme.Shop/IOrderStore
        19-42 class Acme.Shop/Order
        43-47 constructor Acme.Shop.Order/Order
        48-49 property Acme.Shop.Order/this[]
        50-62 method Acme.Shop.Order/AddAsync
        63-64 method Acme.Shop.Order/operator ==
        65-70 struct Acme.Shop.Order/Key
    """,
    "Panel.tsx": """
        1-3 module /
        4-8 interface /PanelProps
        9-21 function /Panel
        22-24 function /App
    """,
    "Parser.hs": """
        1-11 module /
        12-16 type /Parser
        17-21 type /Token
        22-23 type /Table
        24-27 class /Pretty
        28-32 impl /Functor Parser
        33-36 impl /Pretty Token
        37-40 function /many1
        41-46 function /count
        47-49 function /limit
        50-55 function /digits
        56-58 function /<+>
    """,
    "Player.swift": """
        1-5 module /defaultVolume
        6-11 protocol /Playable
        12-16 enum /PlayerError
        17-21 struct /Track
        22-64 class /Player
        65-72 extension /Player
        73-76 function /fade
        77-77 type /Queue
    """,
    "Session.kt": """
        1-9 module /TIMEOUT, Token
        10-15 interface /Event
        16-21 enum /Role
        22-71 class /Session
        72-77 object /Sessions
        78-81 method Session/isOld
        82-82 method Flow/latest
    """,
    "arena.zig": """
        1-10 module /Allocator, page_size, total, ArenaError
        11-22 enum /Kind
        23-62 struct /Arena
        63-69 function /Pair
        70-74 test /an arena gives room
    """,
    "cache.rs": """
        1-10 module /CAPACITY, HITS
        11-17 enum /CacheError
        18-26 trait /Weigh
        27-33 struct /Cache
        34-39 macro /hit
        40-80 impl /Cache
        81-86 impl /Cache
        87-88 type /Shared
        89-99 module /tests
    """,
    "deploy.sh": """
        1-10 module /TARGET, RETRIES
        11-15 function /log
        16-24 function /upload
        25-30 function /restart
        31-38 function /main
    """,
    "guide.md": """
        1-7 section /
        8-32 section /Using the cache
    """,
    "ledger.py": """
        1-15 module /MAX_RETRIES, _DEFAULT_CURRENCY
        16-33 function /retry
        34-44 class /Amount
        45-50 class /Account
        51-53 class Account/Closed
        54-58 method Account/__init__
        59-63 method Account/balance
        64-67 method Account/label
        68-81 method Account/transfer
        82-86 method Account/parse
        87-91 method Account/_audit
        92-94 module /
    """,
    "mailer.rb": """
        1-5 module /
        6-9 class Acme/MailError
        10-56 class Acme/Mailer
        57-62 suite /Acme::Mailer
        63-65 function /deliver
    """,
    "queue.lua": """
        1-8 module /MAX, Queue
        9-16 method Queue/new
        17-23 method Queue/push
        24-27 function /swap
        28-33 method Queue/reverse
        34-39 function /drain
        40-44 function /main
    """,
    "ring.c": """
        1-11 module /RING_SIZE, MASK, index_t
        12-17 struct /slot
        18-22 struct /ring_t
        23-24 enum /ring_state
        25-29 union /word
        30-32 module /ring_panic
        33-37 function /ring_used
        38-51 function /ring_put
        52-56 function /ring_take
        57-65 function /ring_dump
        66-69 function /ring_hook
    """,
    "router.js": """
        1-10 module /METHODS, counter
        11-62 class /Router
        63-65 function /createRouter
        66-72 function /compose
        73-77 method Router/mount
        78-82 function /listen
        83-93 object /exports
        94-99 suite /Router
    """,
    "schema.sql": """
        1-14 section /customers, customers_name, total
    """,
    "server.go": """
        1-19 module /DefaultPort, maxBody, ErrClosed
        20-24 interface /Handler
        25-27 type /HandlerFunc
        28-33 struct /Request
        34-36 type /Code
        37-43 struct /Server
        44-52 function /New
        53-57 method HandlerFunc/Handle
        58-67 method Server/Serve
        68-75 function /Map
        76-76 method List/Push
    """,
    "settings.toml": """
        1-11 section /server, server.tls, workers
    """,
    "shapes.cpp": """
        1-6 module /
        7-12 module geometry/kPi, Color
        13-19 class geometry/Shape
        20-56 class geometry/Box
        57-62 function geometry/largest
        63-70 struct geometry.detail/Hidden
        71-75 method geometry.Circle/area
        76-80 method geometry.Circle/~Circle
        81-82 type /Shapes
        83-89 function /shapes_version
        90-93 test /ShapesTest.AreaOfACircle
    """,
    "store.ts": """
        1-8 module /Id, Change
        9-15 interface /Entity
        16-20 enum /Level
        21-26 interface rxjs/Observable
        27-34 function Keys/join
        35-79 class /Store
        80-83 function /latest
        84-86 class /MemoryStore
    """,
    "worker.ex": """
        1-4 module /Acme.Job
        5-18 module /Acme.Worker
        19-24 function Acme.Worker/start_link
        25-27 function Acme.Worker/init
        28-45 function Acme.Worker/handle_call
        46-49 function Acme.Worker/finish
        50-55 macro Acme.Worker/traced
        56-57 function Acme.Worker/is_busy
        58-64 module Acme.Worker/Stats
        65-68 protocol /Acme.Size
        69-72 impl /Acme.Queue
        73-81 module /Acme.WorkerTest
    """,
}

DEFINITIONS: dict[str, str] = {
    "Cart.php": """
        10-10 constant /MAX_LINES
        15-18 interface /Countable
        17-17 method Countable/count
        20-28 trait /Logs
        24-27 method Logs/log
        30-39 enum /Status
        35-38 method Status/label
        44-85 class /Cart
        49-49 constant Cart/CURRENCY
        53-56 method Cart/__construct
        59-69 method Cart/add
        71-74 method Cart/count
        76-84 method Cart/fromSession
        87-90 function /total
    """,
    "Graph.scala": """
        7-10 trait /Edge
        8-8 method Edge/weight
        9-9 method Edge/reversed
        12-14 class /Directed
        13-13 method Directed/reversed
        16-21 object /Graph
        17-17 constant Graph/Empty
        18-18 type Graph/Path
        20-20 method Graph/apply
        24-55 class /Graph
        25-25 constant Graph/neighbours
        31-45 method Graph/shortest
        47-49 method Graph/iterator
        51-54 method Graph/walk
        57-59 enum /Color
        60-63 extension /String
        61-63 method String/shout
        64-66 object /Ordering[Color]
        65-66 method Ordering[Color]/compare
    """,
    "Inventory.java": """
        9-66 class /Inventory
        15-18 constructor Inventory/Inventory
        21-24 method Inventory/count
        26-36 method Inventory/mapAll
        38-48 method Inventory/move
        51-57 record Inventory/Slot
        52-56 constructor Inventory.Slot/Slot
        59-65 class Inventory/Shelf
        62-64 method Inventory.Shelf/put
        68-74 interface /Item
        69-69 method Item/sku
        71-73 method Item/sold
        76-88 enum /State
        79-82 method State/blocked
        85-87 method State/blocked
        90-92 interface /Audited
    """,
    "Orders.cs": """
        5-70 namespace /Acme.Shop
        7-7 type Acme.Shop/OrderPlaced
        10-10 record Acme.Shop/OrderLine
        12-12 enum Acme.Shop/OrderState
        14-17 interface Acme.Shop/IOrderStore
        16-16 method Acme.Shop.IOrderStore/FindAsync
        22-69 class Acme.Shop/Order
        31-31 property Acme.Shop.Order/Customer
        33-41 property Acme.Shop.Order/Total
        43-46 constructor Acme.Shop.Order/Order
        48-48 property Acme.Shop.Order/this[]
        51-61 method Acme.Shop.Order/AddAsync
        63-63 method Acme.Shop.Order/operator ==
        65-68 struct Acme.Shop.Order/Key
    """,
    "Panel.tsx": """
        4-7 interface /PanelProps
        10-20 function /Panel
        12-12 function Panel/toggle
        22-24 function /App
    """,
    "Parser.hs": """
        13-15 type /Parser
        17-20 type /Token
        22-22 type /Table
        24-26 class /Pretty
        26-26 method Pretty/pretty
        28-31 impl /Functor Parser
        29-31 method Functor Parser/fmap
        33-35 impl /Pretty Token
        34-35 method Pretty Token/pretty
        39-39 function /many1
        43-45 function /count
        48-48 function /limit
        51-54 function /digits
        58-58 function /<+>
    """,
    "Player.swift": """
        4-4 constant /defaultVolume
        7-10 protocol /Playable
        9-9 method Playable/play
        12-15 enum /PlayerError
        17-20 struct /Track
        23-63 class /Player
        28-30 property Player/title
        32-35 constructor Player/init
        37-39 constructor Player/deinit
        43-54 method Player/play
        56-58 method Player/stop
        60-62 struct Player/State
        65-71 extension /Player
        66-66 property Player/description
        68-70 method Player/shuffle
        73-75 function /fade
        77-77 type /Queue
    """,
    "Session.kt": """
        6-6 constant /TIMEOUT
        8-8 type /Token
        11-14 interface /Event
        12-12 class Event/Opened
        13-13 object Event/Closed
        16-20 enum /Role
        19-19 method Role/canWrite
        25-70 class /Session
        42-52 method Session/open
        54-57 method Session/close
        59-65 object Session/Companion
        62-64 method Session.Companion/restore
        67-69 class Session/Guard
        68-68 method Session.Guard/check
        72-76 object /Sessions
        75-75 method Sessions/find
        78-80 method Session/isOld
        82-82 method Flow/latest
    """,
    "arena.zig": """
        3-3 constant /Allocator
        5-5 constant /page_size
        6-6 constant /total
        9-9 constant /ArenaError
        11-21 enum /Kind
        15-20 method Kind/limit
        24-61 struct /Arena
        28-28 constant Arena/Self
        30-32 method Arena/init
        36-46 method Arena/create
        48-53 method Arena/grow
        55-60 method Arena/deinit
        63-68 function /Pair
        70-74 test /an arena gives room
    """,
    "cache.rs": """
        8-8 constant /CAPACITY
        9-9 constant /HITS
        13-16 enum /CacheError
        19-25 trait /Weigh
        20-20 method Weigh/weight
        22-24 method Weigh/is_empty
        29-32 struct /Cache
        34-38 macro /hit
        40-79 impl /Cache
        42-44 method Cache/new
        49-61 method Cache/insert
        63-69 method Cache/get
        71-78 method Cache/refresh
        81-85 impl /Cache
        82-84 method Cache/fmt
        87-87 type /Shared
        90-99 module /tests
        94-98 function tests/keeps_what_it_was_given
    """,
    "deploy.sh": """
        8-8 constant /TARGET
        9-9 constant /RETRIES
        12-14 function /log
        16-23 function /upload
        25-29 function /restart
        31-36 function /main
    """,
    "ledger.py": """
        12-12 constant /MAX_RETRIES
        13-13 constant /_DEFAULT_CURRENCY
        16-31 function /retry
        19-29 function retry/decorate
        21-27 function retry.decorate/again
        37-42 class /Amount
        41-42 method Amount/__add__
        45-89 class /Account
        51-52 class Account/Closed
        54-57 method Account/__init__
        60-62 method Account/balance
        65-66 method Account/label
        69-80 method Account/transfer
        83-85 method Account/parse
        87-89 method Account/_audit
    """,
    "mailer.rb": """
        6-55 module /Acme
        8-8 class Acme/MailError
        11-54 class Acme/Mailer
        15-15 constant Acme.Mailer/RETRIES
        18-21 method Acme.Mailer/initialize
        25-35 method Acme.Mailer/deliver
        37-39 method Acme.Mailer/default
        41-45 module Acme.Mailer/self
        42-44 method Acme.Mailer.self/configure
        47-47 method Acme.Mailer/ready?
        51-53 method Acme.Mailer/logger
        57-61 suite /Acme::Mailer
        58-60 test Acme::Mailer/sends
        63-65 function /deliver
    """,
    "queue.lua": """
        5-5 constant /MAX
        6-6 constant /Queue
        11-15 method Queue/new
        17-22 method Queue/push
        24-26 function /swap
        28-32 method Queue/reverse
        34-38 function /drain
        40-42 function /main
    """,
    "ring.c": """
        7-7 macro /RING_SIZE
        8-8 macro /MASK
        10-10 type /index_t
        13-16 struct /slot
        18-21 struct /ring_t
        23-23 enum /ring_state
        25-28 union /word
        31-31 declaration /ring_panic
        33-36 function /ring_used
        42-50 function /ring_put
        52-55 function /ring_take
        58-63 function /ring_dump
        66-69 function /ring_hook
    """,
    "router.js": """
        8-8 constant /METHODS
        9-9 constant /counter
        14-61 class /Router
        18-21 method Router/constructor
        24-26 method Router/size
        28-33 method Router/use
        35-41 method Router/matching
        43-60 method Router/handle
        64-64 function /createRouter
        66-71 function /compose
        73-76 method Router/mount
        78-81 function /listen
        83-92 object /exports
        85-87 method exports/redirect
        88-91 method exports/wait
        94-99 suite /Router
        95-98 test Router/answers
    """,
    "server.go": """
        14-14 constant /DefaultPort
        15-15 constant /maxBody
        18-18 variable /ErrClosed
        21-23 interface /Handler
        26-26 type /HandlerFunc
        30-33 struct /Request
        34-34 type /Code
        38-42 struct /Server
        45-51 function /New
        54-56 method HandlerFunc/Handle
        58-66 method Server/Serve
        68-74 function /Map
        76-76 method List/Push
    """,
    "shapes.cpp": """
        7-69 namespace /geometry
        9-9 variable geometry/kPi
        11-11 enum geometry/Color
        14-18 class geometry/Shape
        16-16 method geometry.Shape/~Shape
        22-55 class geometry/Box
        24-24 method geometry.Box/Box
        26-26 method geometry.Box/area
        30-41 method geometry.Box/distance
        43-46 method geometry.Box/operator+
        48-50 struct geometry.Box/Corner
        58-61 function geometry/largest
        63-67 namespace geometry/detail
        64-66 struct geometry.detail/Hidden
        71-74 method geometry.Circle/area
        76-79 method geometry.Circle/~Circle
        81-81 type /Shapes
        84-87 function /shapes_version
        90-93 test /ShapesTest.AreaOfACircle
    """,
    "store.ts": """
        5-5 type /Id
        7-7 type /Change
        10-14 interface /Entity
        13-13 method Entity/describe
        16-19 enum /Level
        21-25 namespace /rxjs
        22-24 interface rxjs/Observable
        23-23 method rxjs.Observable/settled
        27-33 namespace /Keys
        30-32 function Keys/join
        37-78 class /Store
        41-43 method Store/constructor
        45-45 method Store/flush
        47-51 method Store/get
        55-65 method Store/put
        67-70 method Store/onDrop
        72-77 method Store/[Symbol.dispose]
        80-82 function /latest
        84-86 class /MemoryStore
        85-85 method MemoryStore/flush
    """,
    "worker.ex": """
        1-3 module /Acme.Job
        5-63 module /Acme.Worker
        21-23 function Acme.Worker/start_link
        26-26 function Acme.Worker/init
        32-44 function Acme.Worker/handle_call
        46-48 function Acme.Worker/finish
        50-54 macro Acme.Worker/traced
        56-56 function Acme.Worker/is_busy
        58-62 module Acme.Worker/Stats
        61-61 function Acme.Worker.Stats/add
        65-67 protocol /Acme.Size
        66-66 method Acme.Size/size
        69-71 impl /Acme.Queue
        70-70 method Acme.Queue/size
        73-81 module /Acme.WorkerTest
        76-80 suite Acme.WorkerTest/perform
        77-79 test Acme.WorkerTest.perform/answers
    """,
}
