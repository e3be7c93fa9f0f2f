defmodule Acme.Job do
  @callback perform(term) :: :ok
end

defmodule Acme.Worker do
  @moduledoc """
  Does one job after the other.
  """

  use GenServer
  alias Acme.{Job, Queue}
  import Logger, only: [info: 1]

  @behaviour Acme.Job
  @timeout 5_000

  defstruct [:queue, busy: false]

  @doc "Start it."
  @spec start_link(keyword) :: GenServer.on_start()
  def start_link(opts \\ []) do
    GenServer.start_link(__MODULE__, opts, name: __MODULE__)
  end

  @impl true
  def init(opts), do: {:ok, %__MODULE__{queue: Queue.new(opts)}}

  @doc """
  Take a job. While the worker is busy with another one, the job waits in the queue; it is lost when the
  worker ends before its turn, so whoever cannot afford that keeps it until the answer has come.
  """
  def handle_call({:perform, job}, from, %{busy: false} = state) do
    Task.async(fn -> Job.perform(job) end)
    {:noreply, %{state | busy: from}, @timeout}
  end

  def handle_call({:perform, job}, from, state) when is_map(job) do
    info("waiting: #{inspect(job)}")
    {:noreply, %{state | queue: Queue.push(state.queue, {job, from})}}
  end

  def handle_call(:size, _from, state) do
    {:reply, Queue.size(state.queue), state}
  end

  defp finish(state) do
    %{state | busy: false}
  end

  defmacro traced(do: block) do
    quote do
      unquote(block)
    end
  end

  defguard is_busy(state) when state.busy != false

  defmodule Stats do
    defstruct done: 0

    def add(stats), do: %{stats | done: stats.done + 1}
  end
end

defprotocol Acme.Size do
  def size(value)
end

defimpl Acme.Size, for: Acme.Queue do
  def size(queue), do: length(queue.items)
end

defmodule Acme.WorkerTest do
  use ExUnit.Case

  describe "perform" do
    test "answers", %{worker: worker} do
      assert :ok = GenServer.call(worker, {:perform, %{}})
    end
  end
end
