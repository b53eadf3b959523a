package tamtam.savina

import java.util.concurrent.CountDownLatch
import java.util.{List => JavaList}

import scala.actors.{Actor, IScheduler, Reactor}
import scala.collection.JavaConverters.asScalaBufferConverter

import tamtam.ActorThreads

/** The end of an actor. */
private case object Stop

/** The three ways of the article's programs with Scala's actors. */
private[savina] object ScalaActors {

  /** An actor, whatever it is made of. */
  private[savina] trait Player {
    def deliver(message: Any): Unit

    def launch(): Unit
  }

  /** The actors of a round. Complete before anything is sent, and so before an actor reads it. */
  private[savina] class Cast[M](actors: Int) extends Others[M] {
    val players = new Array[Player](actors)
    val ended = new CountDownLatch(actors)

    override def tell(position: Int, message: M): Unit = players(position).deliver(message)
  }

  private[savina] abstract class Players[M] extends Stage[M] {
    private var cast = new Cast[M](0)

    protected def player(part: Part[M], cast: Cast[M]): Player

    override def build(parts: JavaList[Part[M]]): Unit = {
      val all = new Cast[M](parts.size)
      for ((part, position) <- parts.asScala.zipWithIndex) {
        all.players(position) = player(part, all)
      }
      all.players.foreach(_.launch())
      cast = all
    }

    override def tell(position: Int, message: M): Unit = cast.tell(position, message)

    override def clear(): Unit = {
      cast.players.foreach(_.deliver(Stop))
      cast.ended.await()
      cast = new Cast[M](0)
    }

    override def close(): Unit = ()
  }

  /** `loop { react { … } }`. The threads are those of the default scheduler, limited by `actors.maxPoolSize`. */
  private[savina] class Loop[M](threads: Int) extends Players[M] {
    ActorThreads.limit(threads)

    override protected def player(part: Part[M], cast: Cast[M]): Player = new Actor with Player {
      override def deliver(message: Any): Unit = this ! message

      override def launch(): Unit = start()

      override def act(): Unit = loop {
        react {
          case Stop =>
            cast.ended.countDown()
            exit()
          case message => part.handle(message.asInstanceOf[M], cast)
        }
      }
    }
  }

  /** A `react` that calls itself. */
  private[savina] class React[M](threads: Int) extends Players[M] {
    ActorThreads.limit(threads)

    override protected def player(part: Part[M], cast: Cast[M]): Player = new Actor with Player {
      override def deliver(message: Any): Unit = this ! message

      override def launch(): Unit = start()

      override def act(): Unit = handle()

      private def handle(): Unit = react {
        case Stop => cast.ended.countDown()
        case message =>
          part.handle(message.asInstanceOf[M], cast)
          handle()
      }
    }
  }

  /** Reactors, which answer to nobody, on a fork-join pool. */
  private[savina] class OnForkJoinPool[M](threads: Int) extends Players[M] {
    private val pool = ActorThreads.forkJoinPool(threads)

    override protected def player(part: Part[M], cast: Cast[M]): Player = new Reactor[Any] with Player {
      override def scheduler: IScheduler = pool

      override def deliver(message: Any): Unit = this ! message

      override def launch(): Unit = start()

      override def act(): Unit = loop {
        react {
          case Stop =>
            cast.ended.countDown()
            exit()
          case message => part.handle(message.asInstanceOf[M], cast)
        }
      }
    }

    override def close(): Unit = pool.shutdown()
  }
}
