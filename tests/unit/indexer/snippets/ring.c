/*
 * ring.c - a buffer that goes round.
 */
#include <stdlib.h>
#include "ring.h"

#define RING_SIZE 64
#define MASK(x) ((x) & (RING_SIZE - 1))

typedef unsigned int index_t;

/* One slot of the ring. */
struct slot {
	void *data;
	struct slot *next;
};

typedef struct ring {
	struct slot slots[RING_SIZE];
	index_t head, tail;
} ring_t;

enum ring_state { RING_EMPTY, RING_FULL };

union word {
	int whole;
	char bytes[4];
};

static int ring_count;
extern void ring_panic(const char *why);

static inline int ring_used(const struct ring *ring)
{
	return MASK(ring->head - ring->tail);
}

/**
 * Put something in.
 * Returns 0, or -1 when there is no room.
 */
int ring_put(struct ring *ring, void *data)
{
	if (ring_used(ring) == RING_SIZE - 1) {
		ring_panic("full");
		return -1;
	}
	ring->slots[MASK(ring->head++)].data = data;
	return 0;
}

void *ring_take(struct ring *ring)
{
	return ring->slots[MASK(ring->tail++)].data;
}

#ifdef RING_DEBUG
static void
ring_dump(struct ring *ring)
{
	for (int i = 0; i < RING_SIZE; i++)
		printf("%d: %p\n", i, ring->slots[i].data);
}
#endif

int (*ring_hook(void))(int)
{
	return NULL;
}
