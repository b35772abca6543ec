/* lab_state — the gate of a LAB (lab_state.hpp) on processors with store buffers, with membarrier(2) as it is.
 *
 *   paper      store buffers as of x86-TSO (Sewell, Sarkar, Owens, Zappa Nardelli, Myreen, CACM 2010)
 *   how        ./polder test proof.promela: spin goes through every state, twice (test/proof/promela.py)
 *   why both   Relacy (lab_state_model.cpp) knows C++'s orders, but no fence that one thread makes another execute: it has
 *              membarrier stronger than it is, in one of two ways. Here the light side is nothing at all, and the heavy side
 *              empties the store buffers of the others, each at a moment of its own. Orders between stores, which a processor
 *              of this kind keeps by itself, are Relacy's affair
 *   deviation  one word stands for limit_ and key_; the private data are one word, that is written and not read
 *
 * A store goes into its thread's buffer, from where `memory_of_all` carries it to memory at any later time, in order. A
 * load reads memory: no thread reads what it may still have in its own buffer, but for `pending` below. A CAS, an exchange
 * and a seq_cst fence empty the own buffer first.
 *
 * Checked, whatever the scheduler does:
 *   one user                 the private datum has one user at a time, and no store to it by a former user is still on its way
 *   no block is forgotten    when all are through, every block posted has been drained, once; the LAB is idle and closed
 *   nobody waits             no statement blocks, but for a store while the buffer is full; and no infinite execution exists,
 *                            not even one in which a single thread runs for ever: so each of them is through after so many
 *                            steps of its own, wherever the others stand
 *
 * The owner comes as often as VISITS says, with OPERATIONS each; the others work as often as RAIDS, POSTS and ADOPTIONS say.
 */
#ifndef VISITS
#define VISITS 2
#define OPERATIONS 1
#define RAIDS 2
#define POSTS 1
#define ADOPTIONS 1
#endif

/* Threads, by _pid: in the order in which they stand below. */
#define THREADS 4

/* Words of memory. */
#define ACTIVE 0
#define OPEN 1 /* 0: limit_ and key_ admit nothing */
#define STATE 2
#define DATA 3
#define WAITING 4 /* blocks in the inbox: its head, by RMW alone */

/* lab_state */
#define IDLE 0
#define RUNNING 1
#define CLAIMED 2
#define ABANDONED 3
#define DRAINING 4
#define SHUT 5

byte memory[5]; /* at first as of a LAB that is made and has no thread: idle, closed */
chan buffer[THREADS] = [4] of { byte, byte };

/* What the checks are about; no thread looks at it. */
byte users;            /* of the private data, now */
byte pending[THREADS]; /* stores to them on their way */
byte posted, drained, through;

hidden byte at, value; /* of a store on its way, inside one step */

inline arrive(thread) {
  buffer[thread] ? at, value;
  memory[at] = value;
  if
  :: at == DATA -> pending[thread]--
  :: else -> skip
  fi
}

inline empty_buffer(thread) {
  do
  :: len(buffer[thread]) > 0 -> arrive(thread)
  :: else -> break
  od
}

inline store(word, what) { buffer[_pid] ! word, what }

inline fence() { d_step { empty_buffer(_pid) } }

inline step(from, to, done) {
  d_step {
    empty_buffer(_pid);
    if
    :: memory[STATE] == from -> memory[STATE] = to; done = 1
    :: else -> done = 0
    fi
  }
}

/* Its caller's barrier, then an interrupt on each other processor. */
inline membarrier() {
  fence();
  d_step { empty_buffer(0) };
  d_step { empty_buffer(1) };
  d_step { empty_buffer(2) };
  d_step { empty_buffer(3) }
}

inline begin_use() {
  d_step {
    users++;
    assert(users == 1);
    assert(pending[0] + pending[1] + pending[2] + pending[3] == pending[_pid]);
    pending[_pid]++
  };
  store(DATA, 1)
}

inline end_use() { users-- }

inline drain() {
  begin_use();
  d_step {
    empty_buffer(_pid);
    drained = drained + memory[WAITING];
    memory[WAITING] = 0
  };
  end_use()
}

/* Of who has made the LAB idle. */
inline recheck(done) {
  do
  :: fence();
     if
     :: memory[WAITING] == 0 -> break
     :: else -> skip
     fi;
     step(IDLE, DRAINING, done);
     if
     :: !done -> break
     :: else -> skip
     fi;
     drain();
     store(STATE, IDLE)
  od
}

inline settle(done) {
  store(STATE, IDLE);
  recheck(done)
}

active proctype owner() {
  bool done, open;
  byte visits, operations;
  do
  :: visits < VISITS ->
     visits++;
     step(IDLE, SHUT, done);
     operations = 0;
     do
     :: !done -> break /* another's, or given away */
     :: done && operations < OPERATIONS ->
        store(ACTIVE, 1);
        open = memory[OPEN];
        if
        :: open -> skip
        :: else -> /* come_in */
           step(SHUT, CLAIMED, open);
           if
           :: open ->
              store(OPEN, 1);
              step(CLAIMED, RUNNING, done)
           :: else -> skip
           fi
        fi;
        if
        :: open ->
           begin_use();
           end_use();
           store(ACTIVE, 0);
           operations++
        :: else ->
           store(ACTIVE, 0);
           step(CLAIMED, ABANDONED, done); /* give_way */
           done = !done
        fi
     :: done && operations == OPERATIONS -> /* leave */
        store(OPEN, 0);
        step(RUNNING, IDLE, done);
        if
        :: done -> skip
        :: else -> step(SHUT, IDLE, done)
        fi;
        if
        :: done -> recheck(done); done = 0
        :: else -> step(CLAIMED, ABANDONED, done); done = !done
        fi
     od
  :: else -> break
  od;
  skip; /* spin wants no jump to a d_step */
  d_step { visits = 0; operations = 0; done = 0; open = 0; through++ }
}

active proctype claimer() {
  bool done, out;
  byte raids;
  do
  :: raids < RAIDS ->
     raids++;
     step(RUNNING, CLAIMED, done);
     if
     :: done -> skip
     :: else -> step(SHUT, CLAIMED, done)
     fi;
     if
     :: done ->
        store(OPEN, 0);
        membarrier();
        out = (memory[ACTIVE] == 0);
        if
        :: out -> drain() /* held */
        :: else -> skip
        fi;
        step(CLAIMED, SHUT, done); /* end_claim */
        if
        :: !done -> /* inherited */
           drain();
           settle(done)
        :: else -> skip
        fi
     :: else -> skip
     fi
  :: else -> break
  od;
  skip;
  d_step { raids = 0; done = 0; out = 0; through++ }
}

active proctype poster() {
  bool done;
  byte posts;
  do
  :: posts < POSTS ->
     posts++;
     d_step { empty_buffer(_pid); memory[WAITING] = memory[WAITING] + 1; posted++ };
     fence();
     if
     :: memory[STATE] == IDLE -> step(IDLE, DRAINING, done)
     :: else -> done = 0
     fi;
     if
     :: done ->
        drain();
        settle(done)
     :: else -> skip
     fi
  :: else -> break
  od;
  skip;
  d_step { posts = 0; done = 0; through++ }
}

active proctype adopter() {
  bool done;
  byte adoptions;
  do
  :: adoptions < ADOPTIONS ->
     adoptions++;
     step(IDLE, DRAINING, done);
     if
     :: done ->
        begin_use();
        end_use();
        settle(done)
     :: else -> skip
     fi
  :: else -> break
  od;
  skip;
  d_step { adoptions = 0; done = 0; through++ }
}

active proctype memory_of_all() {
end:
  do
  :: d_step { len(buffer[0]) > 0 -> arrive(0) }
  :: d_step { len(buffer[1]) > 0 -> arrive(1) }
  :: d_step { len(buffer[2]) > 0 -> arrive(2) }
  :: d_step { len(buffer[3]) > 0 -> arrive(3) }
  od
}

active proctype judge() {
  d_step {
    through == THREADS && len(buffer[0]) + len(buffer[1]) + len(buffer[2]) + len(buffer[3]) == 0;
    assert(memory[STATE] == IDLE && memory[OPEN] == 0 && memory[ACTIVE] == 0);
    assert(memory[WAITING] == 0 && drained == posted && users == 0)
  }
}
