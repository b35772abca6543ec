#pragma once
// lock_free_producer_consumer — Michael sec. 4.1: one producer, any number of consumers, a lock-free FIFO queue (Michael
// and Scott 1996) whose nodes are made safe to free by hazard pointers (Michael 2004).
#include "core/run.hpp"

namespace polder::bench {

struct lock_free_producer_consumer {
  static constexpr parameter parameters[] = {
      {"tasks", 1'500'000, 1, 1'000'000'000, "tasks", "made by the producer"},
      {"work", 500, 0, 1'000'000, "steps", "of local work for a task"},
      {"database", 1'000'000, 1, 100'000'000, "items", "of four bytes, from which histograms are made"},
      {"queue", 1000, 1, 1'000'000, "tasks", "waiting, above which the producer helps"},
      {"seconds", 0, 0, 86'400, "s", "0: the fixed number of tasks; else as many as are made in this time"},
  };
  static constexpr preset presets[] = {
      {"michael-fig8f", "Michael, figure 8f: work 500, 30 s", "work=500 seconds=30"},
      {"michael-fig8f-scaled", "Michael, figure 8f, a fixed number of tasks", "work=500 tasks=1500000"},
      {"michael-fig8g", "Michael, figure 8g: work 750, 30 s", "work=750 seconds=30"},
      {"michael-fig8g-scaled", "Michael, figure 8g, a fixed number of tasks", "work=750 tasks=1200000"},
      {"michael-fig8h", "Michael, figure 8h: work 1000, 30 s", "work=1000 seconds=30"},
      {"michael-fig8h-scaled", "Michael, figure 8h, a fixed number of tasks", "work=1000 tasks=1000000"},
      {"quick", "Michael, figure 8f, much shorter", "work=500 tasks=400000"},
      {"smoke", "for tests", "tasks=2000 database=1000 queue=50 work=50"},
  };
  static constexpr workload_info info{
      .name = "lock_free_producer_consumer",
      .title = "Lock-free producer-consumer",
      .paper = "Michael fig. 8f, 8g, 8h",
      .what = "A producer enqueues tasks of three blocks; consumers allocate one more for each and free all four.",
      .shows = "Three quarters of all blocks come from one thread and are freed by others.",
      .parameters = parameters,
      .presets = presets,
      .most_threads = 64,
  };

  // The block sizes of the paper: indexes 40 to 80 bytes, task 32, node 16.
  struct task {
    std::uint32_t* indexes;
    std::uint64_t key;
    std::uint32_t count;
    std::uint32_t from;
    std::uint64_t sum;  // of the indexes
  };
  static std::uint64_t task_key(const task& t) {
    return block_key(t.sum ^ reinterpret_cast<std::uintptr_t>(t.indexes), std::uint64_t{t.from} << 32 | t.count);
  }
  struct node {
    std::atomic<node*> next;
    task* work;
  };
  static_assert(sizeof(task) == 32 && sizeof(node) == 16);

  // One a worker, its own lines; hazards are written by the worker and read by all.
  struct alignas(128) record {
    std::atomic<node*> hazards[2];
    node* retired[256];  // owner only, as what follows
    unsigned retired_count = 0;
  };

  class queue {
   public:
    explicit queue(run& r) : records_(r.threads) {}

    // The first node is a dummy.
    void begin(worker& w) {
      node* dummy = make_node(w, nullptr);
      head_.store(dummy, std::memory_order_relaxed);
      tail_.store(dummy, std::memory_order_relaxed);
    }

    void enqueue(worker& w, task* t) {
      node* fresh = make_node(w, t);
      for (;;) {
        node* last = protect(w, 0, tail_);
        node* next = last->next.load(std::memory_order_acquire);  // sync: node-linked
        if (next != nullptr) {
          tail_.compare_exchange_strong(last, next, std::memory_order_seq_cst,
                                        std::memory_order_relaxed);  // sync: node-linked
          continue;
        }
        if (last->next.compare_exchange_strong(next, fresh, std::memory_order_acq_rel,
                                               std::memory_order_relaxed)) {  // sync: node-linked
          tail_.compare_exchange_strong(last, fresh, std::memory_order_seq_cst,
                                        std::memory_order_relaxed);  // sync: node-linked
          break;
        }
      }
      records_[w.id].hazards[0].store(nullptr, std::memory_order_release);  // sync: hazard-cleared
      length_.fetch_add(1, std::memory_order_relaxed);
    }

    task* dequeue(worker& w) {
      for (;;) {
        node* first = protect(w, 0, head_);
        node* last = tail_.load(std::memory_order_acquire);        // sync: node-linked
        node* next = first->next.load(std::memory_order_acquire);  // sync: node-linked
        // seq_cst: the hazard must be visible before head is read again; first cannot be retired while it is head.
        records_[w.id].hazards[1].store(next, std::memory_order_seq_cst);
        if (head_.load(std::memory_order_seq_cst) != first) continue;
        if (next == nullptr) {
          clear(w);
          return nullptr;
        }
        if (first == last) {
          tail_.compare_exchange_strong(last, next, std::memory_order_seq_cst,
                                        std::memory_order_relaxed);  // sync: node-linked
          continue;
        }
        task* t = next->work;
        if (head_.compare_exchange_strong(first, next, std::memory_order_seq_cst, std::memory_order_relaxed)) {
          clear(w);
          length_.fetch_sub(1, std::memory_order_relaxed);
          retire(w, first);
          return t;
        }
      }
    }

    std::int64_t length() const { return length_.load(std::memory_order_relaxed); }

    // When all threads are done with the queue: what is left, the dummy among it.
    void end(worker& w) {
      for (auto& r : records_) {
        for (unsigned i = 0; i < r.retired_count; ++i) free_node(w, r.retired[i]);
        r.retired_count = 0;
      }
      free_node(w, head_.load(std::memory_order_acquire));  // sync: node-linked
    }

   private:
    static node* make_node(worker& w, task* t) {
      void* block = w.checked(opaque(heap.malloc(sizeof(node))), sizeof(node));
      w.took(sizeof(node));
      return new (block) node{nullptr, t};
    }

    static void free_node(worker& w, node* n) {
      heap.free(n);
      w.gave(sizeof(node));
      w.remote_frees += !w.of->same_thread(w.id, 0);  // all but the dummy are the producer's
    }

    node* protect(worker& w, unsigned which, const std::atomic<node*>& from) {
      for (;;) {
        node* n = from.load(std::memory_order_acquire);  // sync: node-linked
        // seq_cst: store, then load; see retire.
        records_[w.id].hazards[which].store(n, std::memory_order_seq_cst);
        if (from.load(std::memory_order_seq_cst) == n) return n;
      }
    }

    void clear(worker& w) {
      for (auto& h : records_[w.id].hazards) h.store(nullptr, std::memory_order_release);  // sync: hazard-cleared
    }

    // The swings of head and tail are seq_cst and come before the scan, the hazards are stored before head or tail is
    // read again (protect): either the scan sees the hazard, or the second reading sees the swing.
    // 64 threads have at most 128 hazards, so that a scan of 256 frees at least half.
    void retire(worker& w, node* n) {
      record& mine = records_[w.id];
      mine.retired[mine.retired_count++] = n;
      if (mine.retired_count < 256) return;
      unsigned kept = 0;
      for (unsigned i = 0; i < 256; ++i) {
        bool used = false;
        for (auto& r : records_) {
          for (auto& h : r.hazards)
            used |= h.load(std::memory_order_seq_cst) == mine.retired[i];  // sync: hazard-cleared
        }
        if (used) mine.retired[kept++] = mine.retired[i];
        else free_node(w, mine.retired[i]);
      }
      mine.retired_count = kept;
    }

    mapped_array<record> records_;
    alignas(128) std::atomic<node*> head_{nullptr};  // written by whoever dequeues
    alignas(128) std::atomic<node*> tail_{nullptr};  // written by the producer and whoever helps it
    alignas(128) std::atomic<std::int64_t> length_{0};
  };

  static void execute(run& r) {
    const auto tasks = static_cast<std::uint64_t>(r.with["tasks"]);
    const auto work = r.with["work"];
    const auto limit = r.with["queue"];
    const std::size_t items = r.with.size("database");
    mapped_array<std::uint32_t> database(items);
    random numbers(r.seed, ~std::uint64_t{0});
    for (auto& item : database) item = static_cast<std::uint32_t>(numbers.next());

    queue q(r);
    q.begin(r.setup());
    alignas(128) std::atomic<std::uint64_t> processed{0};
    alignas(128) std::atomic<std::uint64_t> all{
        ~std::uint64_t{0}};  // written by the producer, when it has made them

    const auto process = [&](worker& w, task* t) {
      constexpr std::size_t histogram_size = 64;
      std::uint64_t key = w.next_key();
      auto* histogram = static_cast<unsigned char*>(w.allocate(histogram_size, key));
      if (t->key != task_key(*t)) r.fail("task %p was overwritten in the queue", static_cast<void*>(t));
      std::uint64_t sum = 0;
      for (std::uint32_t i = 0; i < t->count; ++i) {
        sum += t->indexes[i];
        if (t->indexes[i] < items) ++histogram[8 + database[t->indexes[i]] % 32];
      }
      for (std::int64_t i = 0; i < work; ++i) asm volatile("" : : "r"(i));
      if (sum != t->sum)
        r.fail("the indexes %p of a task were overwritten in the queue", static_cast<void*>(t->indexes));
      const bool remote = t->from != w.id;
      w.release(histogram, histogram_size, key);
      w.gave(t->count * 4);
      w.gave(sizeof(task));
      heap.free(t->indexes);
      heap.free(t);
      w.remote_frees += remote ? 2 : 0;
      w.operations += 8;  // of this task: four mallocs and four frees, the node's among them
      processed.fetch_add(1, std::memory_order_acq_rel);  // sync: all-processed
    };

    r.measure([&](worker& w) {
      patience idle;
      if (w.id == 0) {
        const auto seconds = r.with["seconds"];
        const std::int64_t deadline = w.begin_ns + seconds * 1'000'000'000;
        std::uint64_t made = 0;
        for (; seconds != 0 || made < tasks; ++made) {
          if (seconds != 0 && made % 256 == 0 && now_ns() >= deadline) break;
          const auto count = static_cast<std::uint32_t>(w.numbers.between(10, 20));
          auto* indexes = static_cast<std::uint32_t*>(w.checked(opaque(heap.malloc(count * 4)), count * 4));
          auto* t = static_cast<task*>(w.checked(opaque(heap.malloc(sizeof(task))), sizeof(task)));
          w.took(count * 4);
          w.took(sizeof(task));
          *t = {indexes, 0, count, w.id, 0};
          for (std::uint32_t i = 0; i < count; ++i) {
            indexes[i] = static_cast<std::uint32_t>(w.numbers.below(items));
            t->sum += indexes[i];
          }
          t->key = task_key(*t);
          q.enqueue(w, t);
          if (q.length() > limit) {
            if (task* helped = q.dequeue(w)) process(w, helped);
          }
        }
        all.store(made, std::memory_order_release);  // sync: all-made
      }
      while (processed.load(std::memory_order_acquire) !=  // sync: all-processed
             all.load(std::memory_order_acquire)) {        // sync: all-made
        if (task* t = q.dequeue(w)) {
          process(w, t);
          idle.reset();
        } else {
          idle.wait();
        }
      }
    });
    q.end(r.setup());
  }
};

}  // namespace polder::bench
