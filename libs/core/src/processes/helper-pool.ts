import { readFileSync } from 'node:fs'
import { memoryLimit } from './confinement.js'
import { HelperEnded, HelperProcess } from './helper-process.js'
import { type RestartPolicy, restartDelayMs } from './restart-policy.js'

export interface PoolOptions<Task = unknown> {
  /** the built file that calls `serve`, even when the sources run (in tests) */
  readonly module: URL
  /** maximum number of processes. If there are several, one of them is always left to other callers. */
  readonly processes: number
  /** milliseconds for one step of a task: from its start, or from the last name that it reported (see `Progress`) */
  readonly stepMs: number
  /** milliseconds for all steps of a task */
  readonly taskMs: number
  /** limit of each process, see `ChildOptions` */
  readonly memoryMb: number
  /** maximum number of tasks that wait; one caller may have half of them */
  readonly waiting: number
  /** milliseconds without a task after which a process is ended. Default: IDLE_MS */
  readonly idleMs?: number
  /**
   * milliseconds that the first process works on one task before another process takes the next ones. Default: they work at the same time. The others are then
   * spares, which one caller may have too.
   */
  readonly spareAfterMs?: number
  /** tasks with the same group run one after the other, so that what hangs in one of them holds one process */
  groupOf?(task: Task): string
}

/** Thrown if too many tasks wait, of all callers or of this one. */
export class PoolBusy extends Error {
  override readonly name = 'PoolBusy'
}

/** Thrown if a task exceeded its time or memory, or ended its process. */
export class TaskEnded extends Error {
  override readonly name = 'TaskEnded'
  /** name of the step in which it ended; null: it named none */
  readonly at: string | null
  /** true if it may succeed later: it waited for a processor or a disk, or was killed from outside */
  readonly mayPass: boolean

  constructor(message: string, at: string | null, mayPass = false) {
    super(message)
    this.at = at
    this.mayPass = mayPass
  }
}

/** Default time in ms after which a process without a task is ended. */
const IDLE_MS = 30_000
/** Time in ms in which a process must have started; its files may be on a disk that does not answer. */
const START_LIMIT_MS = 60_000
/** A process that cannot start is not started for each of hundreds of tasks. */
const STARTS: RestartPolicy = { soundAfterMs: 0, freeRestarts: 1, firstDelayMs: 500, longestDelayMs: 30_000 }
/** A step that got less than this part of a processor was delayed by others; it gets up to PATIENCE times its limit. */
const OWN_PART = 1 / 2
const PATIENCE = 4
/** Milliseconds of a tick in /proc/PID/stat, on all Linux machines. */
const TICK_MS = 10

interface Job<Task, Answer> {
  readonly key: string
  readonly task: Task
  readonly answer: Promise<Answer>
  readonly settle: { resolve(answer: Answer): void; reject(error: unknown): void }
  /** callers that wait for it */
  readonly callers: Set<string>
  readonly group: string
  hasBegun: boolean
}

interface Place<Task extends object, Answer> {
  readonly helper: HelperProcess<Task, Answer>
  /** caller whose task it runs; null: none */
  caller: string | null
  group: string
  /** when its task began; see `performance.now()` */
  sinceMs: number
  idleTimer: NodeJS.Timeout | null
}

/**
 * Runs tasks in processes that may be killed, under limits of time and memory. Callers take turns, whatever their number of tasks, and none of them has
 * all processes. Tasks with the same key run once for all callers that wait.
 */
export class HelperPool<Task extends object, Answer> {
  readonly #options: PoolOptions<Task>
  readonly #places: Place<Task, Answer>[]
  /** waiting and running */
  readonly #jobs = new Map<string, Job<Task, Answer>>()
  /** waiting jobs of each caller, in the order of turns. A job for several callers is in the lane of each. */
  readonly #lanes = new Map<string, Set<Job<Task, Answer>>>()
  readonly #closed = new AbortController()
  #waiting = 0
  #failedStarts = 0
  #mayStartAt = 0
  #startTimer: NodeJS.Timeout | null = null

  constructor(options: PoolOptions<Task>) {
    this.#options = options
    // Runs a program for the first time, which takes milliseconds, so it is not left to the first request.
    memoryLimit(options.memoryMb)
    const { module, memoryMb } = options
    this.#places = Array.from({ length: options.processes }, () => ({
      helper: new HelperProcess<Task, Answer>(module, { memoryMb }),
      caller: null,
      group: '',
      sinceMs: 0,
      idleTimer: null,
    }))
  }

  /**
   * Runs a task. Rejects with PoolBusy, TaskEnded, or the error of the task.
   * @param key identifies the task
   * @param caller whose task it is, for example the id of a token
   */
  run(key: string, task: Task, caller: string): Promise<Answer> {
    const lane = this.#lanes.get(caller) ?? new Set()
    const known = this.#jobs.get(key)
    if (known === undefined && (this.#waiting >= this.#options.waiting || lane.size >= this.#options.waiting / 2))
      return Promise.reject(new PoolBusy('too many tasks wait'))
    const job = known ?? this.#create(key, task)
    if (!job.hasBegun) {
      job.callers.add(caller)
      this.#lanes.set(caller, lane.add(job))
    }
    this.#next()
    return job.answer
  }

  /** Kills all processes. Pending tasks reject. */
  close(): void {
    this.#closed.abort(new Error('the pool is closed'))
    if (this.#startTimer !== null) clearTimeout(this.#startTimer)
    for (const { helper, idleTimer } of this.#places) {
      if (idleTimer !== null) clearTimeout(idleTimer)
      helper.end()
    }
    for (const { settle } of this.#jobs.values()) settle.reject(this.#closed.signal.reason)
  }

  #create(key: string, task: Task): Job<Task, Answer> {
    const { promise, ...settle } = withResolvers<Answer>()
    const group = this.#options.groupOf?.(task) ?? key
    const job = { key, task, answer: promise, settle, callers: new Set<string>(), group, hasBegun: false }
    this.#jobs.set(key, job)
    this.#waiting++
    return job
  }

  #next(): void {
    if (this.#closed.signal.aborted) return
    const now = performance.now()
    const spareDelay = this.#spareDelay(now)
    for (const [i, place] of this.#places.entries()) {
      if (place.caller !== null) continue
      const delay = Math.max(place.helper.pid === null ? this.#mayStartAt - now : 0, i > 0 ? spareDelay : 0)
      if (delay > 0) {
        if (this.#waiting === 0) return
        this.#startTimer ??= setTimeout(() => {
          this.#startTimer = null
          this.#next()
        }, delay)
        continue
      }
      const turn = this.#takeTurn()
      if (turn === null) return
      void this.#work(place, ...turn)
    }
  }

  /** Milliseconds until a spare process takes a task. */
  #spareDelay(now: number): number {
    const { spareAfterMs = 0 } = this.#options
    const [first] = this.#places
    return first === undefined || first.caller === null ? spareAfterMs : first.sinceMs + spareAfterMs - now
  }

  /** Takes the next task of the caller whose turn it is. */
  #takeTurn(): [Job<Task, Answer>, caller: string] | null {
    const { processes, spareAfterMs } = this.#options
    const most = spareAfterMs === undefined ? Math.max(1, processes - 1) : processes
    const running = new Set(this.#places.map(({ caller, group }) => (caller === null ? null : group)))
    for (const [caller, lane] of this.#lanes) {
      const job = [...lane].find(({ group }) => !running.has(group))
      if (job === undefined || this.#places.filter((place) => place.caller === caller).length >= most) continue
      for (const one of job.callers) {
        const its = this.#lanes.get(one)
        its?.delete(job)
        if (its?.size === 0) this.#lanes.delete(one)
      }
      // The caller's next turn comes after one of each other caller.
      if (lane.size > 0) {
        this.#lanes.delete(caller)
        this.#lanes.set(caller, lane)
      }
      this.#waiting--
      job.hasBegun = true
      return [job, caller]
    }
    return null
  }

  async #work(
    place: Place<Task, Answer>,
    { key, task, group, settle }: Job<Task, Answer>,
    caller: string,
  ): Promise<void> {
    place.caller = caller
    place.group = group
    place.sinceMs = performance.now()
    if (place.idleTimer !== null) clearTimeout(place.idleTimer)
    try {
      settle.resolve(await this.#ask(place.helper, task))
    } catch (error) {
      settle.reject(error)
    }
    this.#jobs.delete(key)
    place.caller = null
    place.idleTimer = setTimeout(() => place.helper.end(), this.#options.idleMs ?? IDLE_MS)
    place.idleTimer.unref()
    this.#next()
  }

  async #ask(helper: HelperProcess<Task, Answer>, task: Task): Promise<Answer> {
    await this.#start(helper)
    const { stepMs, taskMs } = this.#options
    const late = new AbortController()
    const pid = helper.pid ?? -1
    let at: string | null = null
    let step = { sinceMs: performance.now(), usedMs: cpuMs(pid) }
    const whole = setTimeout(() => late.abort(new TaskEnded(`it takes longer than ${taskMs / 1000} s`, at)), taskMs)
    const timer = setInterval(() => {
      const wasDelayed = cpuMs(pid) - step.usedMs < stepMs * OWN_PART
      if (performance.now() - step.sinceMs < stepMs * (wasDelayed ? PATIENCE : 1)) return
      late.abort(new TaskEnded(`it takes longer than ${stepMs / 1000} s`, at, wasDelayed))
    }, stepMs / 2)
    try {
      return await helper.ask(task, AbortSignal.any([late.signal, this.#closed.signal]), (_, name) => {
        if (name === null) return
        at = name
        step = { sinceMs: performance.now(), usedMs: cpuMs(pid) }
      })
    } catch (error) {
      if (!(error instanceof HelperEnded) || this.#closed.signal.aborted) throw error
      const { message } = error
      const limits = `its process, which has ${this.#options.memoryMb} MB of memory, ended`
      throw new TaskEnded(`${limits}: ${message}`, at, message.endsWith('SIGKILL'))
    } finally {
      clearTimeout(whole)
      clearInterval(timer)
    }
  }

  async #start(helper: HelperProcess<Task, Answer>): Promise<void> {
    if (helper.pid !== null) return
    const late = AbortSignal.timeout(START_LIMIT_MS)
    await helper.started(AbortSignal.any([late, this.#closed.signal])).catch((error: unknown) => {
      if (!late.aborted) throw error
      helper.end()
    })
    if (helper.pid !== null) {
      this.#failedStarts = 0
      return
    }
    this.#failedStarts++
    this.#mayStartAt = performance.now() + restartDelayMs(this.#failedStarts, STARTS)
    throw new Error('a helper process cannot be started')
  }
}

/** Processor time of all threads of a process in ms; 0 if unknown. */
function cpuMs(pid: number): number {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
    return (Number(fields[11]) + Number(fields[12])) * TICK_MS
  } catch {
    return 0
  }
}

/** Promise.withResolvers, which Node has from version 22. */
function withResolvers<T>() {
  let resolve!: (value: T) => void
  let reject!: (error: unknown) => void
  const promise = new Promise<T>((yes, no) => {
    resolve = yes
    reject = no
  })
  return { promise, resolve, reject }
}
