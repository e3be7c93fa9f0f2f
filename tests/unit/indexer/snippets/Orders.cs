using System;
using System.Collections.Generic;
using Json = System.Text.Json.JsonSerializer;

namespace Acme.Shop
{
    public delegate void OrderPlaced(object sender, Order order);

    /// <summary>One line of an order.</summary>
    public record OrderLine(string Sku, int Count);

    public enum OrderState { Open, Paid }

    public interface IOrderStore : IDisposable
    {
        Task<Order?> FindAsync(Guid id);
    }

    /// <summary>
    /// What a customer wants.
    /// </summary>
    [Serializable]
    public partial class Order : Entity<Guid>, IEquatable<Order>
    {
        private const int Limit = 50;
        private readonly List<OrderLine> _lines = new();

        public event OrderPlaced? Placed;

        /// <summary>Who pays.</summary>
        public string Customer { get; init; } = "";

        public decimal Total
        {
            get
            {
                decimal sum = 0;
                foreach (var line in _lines) sum += Prices.Of(line.Sku) * line.Count;
                return sum;
            }
        }

        public Order(string customer)
        {
            Customer = customer;
        }

        public OrderLine this[int index] => _lines[index];

        /// <summary>Add goods. The same goods twice are one line with both counts.</summary>
        [Audited("order")]
        public async Task<Order> AddAsync<T>(T goods, int count, CancellationToken token = default)
            where T : IGoods
        {
            if (_lines.Count >= Limit)
                throw new InvalidOperationException($"an order has at most {Limit} lines");
            await Stock.ReserveAsync(goods.Sku, count, token);
            _lines.Add(new OrderLine(goods.Sku, count));
            Placed?.Invoke(this, this);
            return this;
        }

        public static bool operator ==(Order left, Order right) => left.Equals(right);

        private struct Key
        {
            public Guid Id;
        }
    }
}
