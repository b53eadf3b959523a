package tamtam.ring

import java.util.concurrent.CountDownLatch

import scala.actors.{Actor, IScheduler, Reactor}

import tamtam.ActorThreads

/** The end of an actor. */
private case object Stop

/** The article's three programs with Scala's actors, in our own words. */
private[ring] object ScalaActors {

  /** An actor of a ring, whatever it is made of. */
  private[ring] trait Node {
    @volatile var next: Node = _

    def deliver(message: Any): Unit

    def launch(): Unit
  }

  private[ring] abstract class Nodes extends Ring {
    private var nodes = new Array[Node](0)
    private var ended = new CountDownLatch(0)

    protected def node(station: Station, ended: CountDownLatch): Node

    override def build(course: Course): Unit = {
      ended = new CountDownLatch(course.actors)
      nodes = Array.tabulate(course.actors)(position => node(course.station(position), ended))
      for (position <- nodes.indices) {
        nodes(position).next = nodes((position + 1) % nodes.length)
      }
      nodes.foreach(_.launch())
    }

    override def send(position: Int, parcel: Parcel): Unit = nodes(position).deliver(parcel)

    override def clear(): Unit = {
      nodes.foreach(_.deliver(Stop))
      ended.await()
      nodes = new Array[Node](0)
    }

    override def close(): Unit = ()
  }

  /** `loop { react { … } }`. The threads are those of the default scheduler, limited by `actors.maxPoolSize`. */
  private[ring] class Loop(threads: Int) extends Nodes {
    ActorThreads.limit(threads)

    override protected def node(station: Station, ended: CountDownLatch): Node = new Actor with Node {
      override def deliver(message: Any): Unit = this ! message

      override def launch(): Unit = start()

      override def act(): Unit = loop {
        react {
          case parcel: Parcel => if (station.handle(parcel)) next.deliver(parcel)
          case Stop =>
            ended.countDown()
            exit()
        }
      }
    }
  }

  /** A `react` that calls itself. */
  private[ring] class React(threads: Int) extends Nodes {
    ActorThreads.limit(threads)

    override protected def node(station: Station, ended: CountDownLatch): Node = new Actor with Node {
      override def deliver(message: Any): Unit = this ! message

      override def launch(): Unit = start()

      override def act(): Unit = handle()

      private def handle(): Unit = react {
        case parcel: Parcel =>
          if (station.handle(parcel)) next.deliver(parcel)
          handle()
        case Stop => ended.countDown()
      }
    }
  }

  /** Reactors, which answer to nobody, on a fork-join pool. */
  private[ring] class OnForkJoinPool(threads: Int) extends Nodes {
    private val pool = ActorThreads.forkJoinPool(threads)

    override protected def node(station: Station, ended: CountDownLatch): Node = new Reactor[Any] with Node {
      override def scheduler: IScheduler = pool

      override def deliver(message: Any): Unit = this ! message

      override def launch(): Unit = start()

      override def act(): Unit = loop {
        react {
          case parcel: Parcel => if (station.handle(parcel)) next.deliver(parcel)
          case Stop =>
            ended.countDown()
            exit()
        }
      }
    }

    override def close(): Unit = pool.shutdown()
  }
}
