package tamtam

import scala.actors.Reactor
import scala.actors.scheduler.ForkJoinScheduler

/** The threads that Scala's actors run on. */
private[tamtam] object ActorThreads {

  /** Those of the default scheduler. Before the first actor: it reads them when it starts. */
  def limit(threads: Int): Unit = {
    System.setProperty("actors.corePoolSize", threads.toString)
    System.setProperty("actors.maxPoolSize", threads.toString)
  }

  /** A pool of so many. */
  def forkJoinPool(threads: Int): ForkJoinScheduler = {
    val pool = new ForkJoinScheduler(threads, threads, true, true)
    // It ends with its last actor; this one, which never starts, lets it outlive a round.
    pool.newActor(new Reactor[Any] {
      override def act(): Unit = ()
    })
    pool.start()
    pool
  }
}
