package com.acme.session

import kotlinx.coroutines.flow.Flow
import com.acme.store.Store as SessionStore

const val TIMEOUT = 30_000L

typealias Token = String

/** What can happen to a session. */
sealed interface Event {
    data class Opened(val token: Token) : Event
    object Closed : Event
}

enum class Role(val level: Int) {
    READER(1), WRITER(2);

    fun canWrite() = level >= 2
}

/**
 * One user at work.
 */
@Serializable
class Session(
    private val store: SessionStore,
    val user: String,
) : Closeable, Base(user) {
    private var opened = false

    init {
        require(user.isNotBlank()) { "a session belongs to somebody" }
    }

    val age: Long
        get() {
            return clock.now() - started
        }

    /** Open it once; opening it again is harmless and changes nothing but the time it was last seen. */
    @Throws(IOException::class)
    suspend fun open(role: Role = Role.READER): Token {
        if (opened) {
            store.touch(user)
            return store.tokenOf(user)
        }
        val token = store.put(user, role, TIMEOUT)
        events.emit(Event.Opened(token))
        opened = true
        return token
    }

    override fun close() {
        store.drop(user)
        opened = false
    }

    companion object {
        private const val PREFIX = "s-"

        fun restore(token: Token): Session {
            return Session(SessionStore.default(), token.removePrefix(PREFIX))
        }
    }

    inner class Guard {
        fun check(): Boolean = opened
    }
}

object Sessions {
    private val all = mutableMapOf<Token, Session>()

    fun find(token: Token): Session? = all[token]
}

fun Session.isOld(limit: Long = TIMEOUT): Boolean {
    return age > limit
}

fun <T : Any> Flow<T>.latest(count: Int): Flow<List<T>> = windowed(count)
