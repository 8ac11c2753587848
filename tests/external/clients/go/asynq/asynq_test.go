// Package asynq runs the task queue asynq: its server, client, scheduler and inspector.
package asynq

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	. "clients/redistest"

	"github.com/hibiken/asynq"
	"github.com/redis/go-redis/v9"
)

var ctx = context.Background()

type queue struct {
	client    *asynq.Client
	inspector *asynq.Inspector
	t         *testing.T
}

func newQueue(t *testing.T) *queue {
	rdb := redis.NewClient(&redis.Options{Addr: Addr()})
	defer rdb.Close()
	NoError(t, rdb.FlushAll(ctx).Err())
	q := &queue{asynq.NewClient(options()), asynq.NewInspector(options()), t}
	t.Cleanup(func() { q.client.Close(); q.inspector.Close() })
	return q
}

func options() asynq.RedisConnOpt { return asynq.RedisClientOpt{Addr: Addr()} }

// serve runs a worker server until the test ends.
func (q *queue) serve(config asynq.Config, handle func(context.Context, *asynq.Task) error) {
	q.t.Helper()
	if config.Concurrency == 0 {
		config.Concurrency = 4
	}
	config.LogLevel = asynq.FatalLevel
	config.TaskCheckInterval = 10 * time.Millisecond
	config.DelayedTaskCheckInterval = 50 * time.Millisecond
	server := asynq.NewServer(options(), config)
	NoError(q.t, server.Start(asynq.HandlerFunc(handle)))
	q.t.Cleanup(server.Shutdown)
}

func (q *queue) enqueue(kind, payload string, options ...asynq.Option) *asynq.TaskInfo {
	q.t.Helper()
	info, err := q.client.Enqueue(asynq.NewTask(kind, []byte(payload)), options...)
	NoError(q.t, err)
	return info
}

func (q *queue) info(name string) *asynq.QueueInfo { return Must(q.inspector.GetQueueInfo(name)) }

func TestEveryTaskRunsOnce(t *testing.T) {
	q := newQueue(t)
	const tasks = 200
	for i := range tasks {
		q.enqueue("email:welcome", fmt.Sprint(i))
	}
	var seen sync.Map
	var runs atomic.Int64
	q.serve(asynq.Config{}, func(_ context.Context, task *asynq.Task) error {
		seen.Store(string(task.Payload()), task.Type())
		runs.Add(1)
		return nil
	})
	Eventually(t, "all tasks are processed", func() bool { return q.info("default").Processed == tasks })
	Equal(t, runs.Load(), int64(tasks))
	for i := range tasks {
		if _, ran := seen.Load(fmt.Sprint(i)); !ran {
			t.Errorf("task %d did not run", i)
		}
	}
	Equal(t, q.info("default").Size, 0)
}

func TestDelayedTaskRunsWhenDue(t *testing.T) {
	q := newQueue(t)
	ran := make(chan time.Time, 1)
	q.serve(asynq.Config{}, func(context.Context, *asynq.Task) error { ran <- time.Now(); return nil })
	due := time.Now().Add(time.Second)
	info := q.enqueue("report", "", asynq.ProcessAt(due))
	Equal(t, info.State, asynq.TaskStateScheduled)
	Equal(t, q.info("default").Scheduled, 1)
	// asynq stores the time in whole seconds.
	if at := <-ran; at.Before(due.Truncate(time.Second)) || at.After(due.Add(3*time.Second)) {
		t.Errorf("due at %v, ran at %v", due, at)
	}
}

func TestFailedTaskIsRetriedThenArchived(t *testing.T) {
	q := newQueue(t)
	var attempts atomic.Int64
	q.serve(asynq.Config{RetryDelayFunc: func(int, error, *asynq.Task) time.Duration { return 0 }},
		func(context.Context, *asynq.Task) error {
			return fmt.Errorf("attempt %d failed", attempts.Add(1))
		})
	info := q.enqueue("flaky", "", asynq.MaxRetry(2))
	Eventually(t, "the task is archived", func() bool { return q.info("default").Archived == 1 })
	Equal(t, attempts.Load(), int64(3))
	archived := Must(q.inspector.GetTaskInfo("default", info.ID))
	Equal(t, archived.LastErr, "attempt 3 failed")
	Equal(t, archived.Retried, 2)
	Equal(t, q.info("default").Failed, 3)
}

func TestSkipRetryArchivesAtOnce(t *testing.T) {
	q := newQueue(t)
	q.serve(asynq.Config{}, func(context.Context, *asynq.Task) error {
		return fmt.Errorf("hopeless: %w", asynq.SkipRetry)
	})
	q.enqueue("hopeless", "")
	Eventually(t, "the task is archived", func() bool { return q.info("default").Archived == 1 })
	Equal(t, q.info("default").Processed, 1)
}

func TestUniqueTasksAndTaskIDs(t *testing.T) {
	q := newQueue(t)
	q.enqueue("pay", "order 1", asynq.Unique(time.Hour))
	_, err := q.client.Enqueue(asynq.NewTask("pay", []byte("order 1")), asynq.Unique(time.Hour))
	Equal(t, errors.Is(err, asynq.ErrDuplicateTask), true)
	q.enqueue("pay", "order 2", asynq.Unique(time.Hour))
	q.enqueue("pay", "order 3", asynq.TaskID("three"))
	_, err = q.client.Enqueue(asynq.NewTask("pay", nil), asynq.TaskID("three"))
	Equal(t, errors.Is(err, asynq.ErrTaskIDConflict), true)
	Equal(t, q.info("default").Pending, 3)
}

func TestStrictPriorityEmptiesTheCriticalQueueFirst(t *testing.T) {
	q := newQueue(t)
	for i := range 10 {
		q.enqueue("t", fmt.Sprint("low ", i), asynq.Queue("low"))
		q.enqueue("t", fmt.Sprint("critical ", i), asynq.Queue("critical"))
	}
	order := make(chan string, 20)
	q.serve(asynq.Config{Concurrency: 1, StrictPriority: true, Queues: map[string]int{"critical": 6, "low": 1}},
		func(_ context.Context, task *asynq.Task) error { order <- string(task.Payload()); return nil })
	for i := range 10 {
		Equal(t, <-order, fmt.Sprint("critical ", i))
	}
	for i := range 10 {
		Equal(t, <-order, fmt.Sprint("low ", i))
	}
}

func TestPeriodicTasks(t *testing.T) {
	q := newQueue(t)
	ran := make(chan string, 10)
	q.serve(asynq.Config{}, func(_ context.Context, task *asynq.Task) error { ran <- task.Type(); return nil })
	scheduler := asynq.NewScheduler(options(), &asynq.SchedulerOpts{LogLevel: asynq.FatalLevel})
	id := Must(scheduler.Register("@every 1s", asynq.NewTask("tick", nil)))
	NoError(t, scheduler.Start())
	defer scheduler.Shutdown()
	for range 2 {
		select {
		case kind := <-ran:
			Equal(t, kind, "tick")
		case <-time.After(5 * time.Second):
			t.Fatal("no tick")
		}
	}
	Eventually(t, "the events are listed", func() bool {
		events, err := q.inspector.ListSchedulerEnqueueEvents(id)
		return err == nil && len(events) >= 2
	})
}

func TestRunningTaskCanBeCancelled(t *testing.T) {
	q := newQueue(t)
	started, ended := make(chan bool, 1), make(chan error, 1)
	q.serve(asynq.Config{}, func(ctx context.Context, _ *asynq.Task) error {
		started <- true
		select {
		case <-ctx.Done():
		case <-time.After(8 * time.Second):
		}
		ended <- ctx.Err()
		return nil
	})
	info := q.enqueue("long", "")
	<-started
	Eventually(t, "the cancellation arrives", func() bool { // the subscriber of the server may still be connecting
		NoError(t, q.inspector.CancelProcessing(info.ID))
		select {
		case err := <-ended:
			Equal(t, err, context.Canceled)
			return true
		case <-time.After(20 * time.Millisecond):
			return false
		}
	})
}

func TestTaskGroupsAreAggregated(t *testing.T) {
	q := newQueue(t)
	got := make(chan string, 1)
	q.serve(asynq.Config{GroupGracePeriod: time.Second, GroupMaxSize: 3,
		GroupAggregator: asynq.GroupAggregatorFunc(func(group string, tasks []*asynq.Task) *asynq.Task {
			var parts []string
			for _, task := range tasks {
				parts = append(parts, string(task.Payload()))
			}
			slices.Sort(parts) // tasks that take one second have no order
			return asynq.NewTask("batch", []byte(group+": "+strings.Join(parts, ",")))
		})}, func(_ context.Context, task *asynq.Task) error { got <- string(task.Payload()); return nil })
	for i := range 3 {
		q.enqueue("notify", fmt.Sprint(i), asynq.Group("user:1"))
	}
	select {
	case batch := <-got:
		Equal(t, batch, "user:1: 0,1,2")
	case <-time.After(10 * time.Second):
		t.Error("no batch")
	}
}

func TestResultsAreKept(t *testing.T) {
	q := newQueue(t)
	info := q.enqueue("t", "payload", asynq.Retention(time.Hour))
	q.serve(asynq.Config{}, func(_ context.Context, task *asynq.Task) error {
		_, err := task.ResultWriter().Write([]byte("result of " + string(task.Payload())))
		return err
	})
	Eventually(t, "the result is kept", func() bool {
		done, err := q.inspector.GetTaskInfo("default", info.ID)
		return err == nil && done.State == asynq.TaskStateCompleted && string(done.Result) == "result of payload"
	})
}

func TestInspector(t *testing.T) {
	q := newQueue(t)
	for i := range 30 {
		q.enqueue("t", fmt.Sprint(i), asynq.Queue("bulk"))
	}
	later := q.enqueue("t", "later", asynq.Queue("bulk"), asynq.ProcessIn(time.Hour))
	Equal(t, Must(q.inspector.Queues()), []string{"bulk"})
	info := q.info("bulk")
	Equal(t, info.Size, 31)
	// The inspector reads the memory of a queue with MEMORY USAGE inside a script.
	if info.MemoryUsage < 31*100 || info.MemoryUsage > 31*2000 {
		t.Errorf("31 tasks use %d bytes", info.MemoryUsage)
	}
	page := Must(q.inspector.ListPendingTasks("bulk", asynq.PageSize(10), asynq.Page(2)))
	Equal(t, len(page), 10)
	Equal(t, string(page[0].Payload), "10")
	NoError(t, q.inspector.DeleteTask("bulk", page[0].ID))
	NoError(t, q.inspector.RunTask("bulk", later.ID))
	Equal(t, q.info("bulk").Scheduled, 0)
	Equal(t, Must(q.inspector.ArchiveAllPendingTasks("bulk")), 30)
	Equal(t, Must(q.inspector.RunAllArchivedTasks("bulk")), 30)
	NoError(t, q.inspector.PauseQueue("bulk"))
	Equal(t, q.info("bulk").Paused, true)
	NoError(t, q.inspector.UnpauseQueue("bulk"))
	Equal(t, len(Must(q.inspector.History("bulk", 3))), 3)
	if err := q.inspector.DeleteQueue("bulk", false); err == nil {
		t.Error("deleted a queue that is not empty")
	}
	NoError(t, q.inspector.DeleteQueue("bulk", true))
	Equal(t, Must(q.inspector.Queues()), []string{})
}

func TestInspectorSeesServersAndActiveTasks(t *testing.T) {
	q := newQueue(t)
	release := make(chan bool)
	q.serve(asynq.Config{}, func(context.Context, *asynq.Task) error { <-release; return nil })
	defer close(release)
	info := q.enqueue("t", "")
	Eventually(t, "the task is active", func() bool { return q.info("default").Active == 1 })
	active := Must(q.inspector.ListActiveTasks("default"))
	Equal(t, active[0].ID, info.ID)
	Eventually(t, "the server has said hello", func() bool { return len(Must(q.inspector.Servers())) == 1 })
	Equal(t, Must(q.inspector.Servers())[0].Concurrency, 4)
}
