package com.acme.graph

import scala.collection.mutable
import com.acme.store.{Store, Cache => Kept}

/** What connects two nodes. */
sealed trait Edge[+A] {
  def weight: Double
  def reversed: Edge[A]
}

case class Directed[A](from: A, to: A, weight: Double = 1.0) extends Edge[A] with Serializable {
  def reversed: Edge[A] = Directed(to, from, weight)
}

object Graph {
  val Empty: Graph[Nothing] = new Graph(Nil)
  type Path[A] = List[A]

  def apply[A](edges: Edge[A]*): Graph[A] = new Graph(edges.toList)
}

/** Nodes and what lies between them. */
class Graph[A](edges: List[Edge[A]])(implicit ordering: Ordering[A]) extends Iterable[A] {
  private lazy val neighbours = edges.groupBy(_.from)
  var visited = 0

  /** The shortest way from one node to another, by the sum of the weights on it. There is none between
    * parts that are not connected, and the way from a node to itself is the node alone.
    */
  def shortest(from: A, to: A): Option[Path[A]] = {
    val queue = mutable.PriorityQueue((0.0, List(from)))
    val seen = mutable.Set.empty[A]
    while (queue.nonEmpty) {
      val (cost, path) = queue.dequeue()
      if (path.head == to) return Some(path.reverse)
      if (seen.add(path.head)) {
        visited += 1
        for (edge <- neighbours.getOrElse(path.head, Nil)) {
          queue.enqueue((cost - edge.weight, edge.to :: path))
        }
      }
    }
    None
  }

  override def iterator: Iterator[A] = {
    neighbours.keysIterator
  }

  @tailrec
  private def walk(node: A, steps: Int): A = {
    if (steps == 0) node else walk(neighbours(node).head.to, steps - 1)
  }
}

enum Color:
  case Red, Green

extension (text: String)
  def shout: String =
    text.toUpperCase + "!"

given Ordering[Color] with
  def compare(a: Color, b: Color): Int =
    a.ordinal - b.ordinal
