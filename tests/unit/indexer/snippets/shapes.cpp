#include <memory>
#include <vector>
#include "shapes.hpp"

using std::vector;

namespace geometry {

constexpr double kPi = 3.14159;

enum class Color : unsigned char { Red, Green };

// Whatever has an area.
class Shape {
public:
    virtual ~Shape() = default;
    virtual double area() const = 0;
};

/// A box of numbers.
template <typename T, int N = 4>
class Box : public Shape, private Counter<T> {
public:
    explicit Box(T side) : side_(side) {}

    double area() const override { return side_ * side_; }

    // How far are two boxes from each other? The distance is measured between the middles, not the
    // edges, so that boxes that overlap still have one.
    double distance(const Box &other) const
    {
        double dx = middle().x - other.middle().x;
        double dy = middle().y - other.middle().y;
        double dz = middle().z - other.middle().z;
        for (int i = 0; i < N; ++i) {
            dx += offsets_[i].x - other.offsets_[i].x;
            dy += offsets_[i].y - other.offsets_[i].y;
            dz += offsets_[i].z - other.offsets_[i].z;
        }
        return std::sqrt(dx * dx + dy * dy + dz * dz);
    }

    Box operator+(const Box &other) const
    {
        return Box(side_ + other.side_);
    }

    struct Corner {
        T x, y;
    };

private:
    T side_;
    std::array<Point, N> offsets_;
};

template <typename T>
T largest(const vector<T> &values)
{
    return *std::max_element(values.begin(), values.end());
}

namespace detail {
struct Hidden {
    int value;
};
}  // namespace detail

}  // namespace geometry

double geometry::Circle::area() const
{
    return kPi * radius_ * radius_;
}

geometry::Circle::~Circle()
{
    release();
}

using Shapes = std::vector<std::unique_ptr<geometry::Shape>>;

extern "C" {
int shapes_version(void)
{
    return 3;
}
}

TEST(ShapesTest, AreaOfACircle)
{
    EXPECT_NEAR(geometry::Circle(1).area(), geometry::kPi, 1e-3);
}
