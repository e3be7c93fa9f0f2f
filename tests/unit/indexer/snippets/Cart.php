<?php

declare(strict_types=1);

namespace Acme\Shop;

use Acme\Money\Price;
use Psr\Log\{LoggerInterface, NullLogger};

const MAX_LINES = 20;

/**
 * Things that can be counted.
 */
interface Countable extends \Traversable
{
    public function count(): int;
}

trait Logs
{
    private LoggerInterface $logger;

    protected function log(string $message): void
    {
        $this->logger->info($message);
    }
}

enum Status: string
{
    case Open = 'open';
    case Paid = 'paid';

    public function label(): string
    {
        return ucfirst($this->value);
    }
}

/**
 * What a visitor wants to buy.
 */
#[Entity(table: 'carts')]
final class Cart extends Model implements Countable
{
    use Logs;

    public const CURRENCY = 'EUR';

    private array $lines = [];

    public function __construct(private readonly Clock $clock)
    {
        $this->logger = new NullLogger();
    }

    /** Put something in. */
    #[Audited]
    public function add(Product $product, int $count = 1): static
    {
        if (count($this->lines) >= MAX_LINES) {
            throw new \OverflowException('this cart is full, please buy what is in it before you add more');
        }
        $this->lines[$product->sku] = ($this->lines[$product->sku] ?? 0) + $count;
        $this->log("added {$product->sku}");

        return $this;
    }

    public function count(): int
    {
        return array_sum($this->lines);
    }

    public static function fromSession(Session $session): self
    {
        $cart = new self($session->clock());
        foreach ($session->get('lines', []) as $sku => $count) {
            $cart->lines[$sku] = $count;
        }

        return $cart;
    }
}

function total(Cart $cart): Price
{
    return Price::sum(array_map(fn ($line) => $line->price(), $cart->lines()));
}
