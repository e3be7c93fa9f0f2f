import Foundation
@testable import Sound

let defaultVolume = 0.8

/// Something that makes noise.
protocol Playable: AnyObject {
    var title: String { get }
    func play() async throws
}

enum PlayerError: Error {
    case missing(String)
    case busy
}

struct Track: Codable, Hashable {
    let title: String
    var length: Int = 0
}

/// Plays one track after the other.
@MainActor
final class Player: NSObject, Playable {
    private var queue: [Track] = []
    @Published var current: Track?

    var title: String {
        current?.title ?? "nothing"
    }

    init(queue: [Track]) {
        self.queue = queue
        super.init()
    }

    deinit {
        stop()
    }

    /// Start with the first track of the queue. When it ends, the next one follows until the queue is
    /// empty; whoever listens to `current` sees each of them.
    func play() async throws {
        guard let next = queue.first else {
            throw PlayerError.missing("the queue is empty")
        }
        current = next
        for await sample in Decoder(track: next).samples {
            output.write(sample, volume: defaultVolume)
            if Task.isCancelled { break }
        }
        queue.removeFirst()
        try await play()
    }

    private func stop() {
        output.close()
    }

    struct State {
        var position: Int
    }
}

extension Player: CustomStringConvertible {
    var description: String { "Player(\(queue.count))" }

    func shuffle() {
        queue.shuffle()
    }
}

func fade<T: Playable>(_ one: T, into other: T) async rethrows {
    try await other.play()
}

typealias Queue = [Track]
