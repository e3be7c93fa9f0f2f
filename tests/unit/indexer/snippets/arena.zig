//! Memory that is given back all at once.
const std = @import("std");
const Allocator = std.mem.Allocator;

pub const page_size: usize = 4096;
var total: usize = 0;

/// What went wrong.
pub const ArenaError = error{ OutOfMemory, TooLarge };

pub const Kind = enum(u8) {
    small,
    large,

    pub fn limit(self: Kind) usize {
        return switch (self) {
            .small => 64,
            .large => page_size,
        };
    }
};

/// A list of pages.
pub const Arena = struct {
    child: Allocator,
    pages: std.ArrayList([]u8),

    const Self = @This();

    pub fn init(child: Allocator) Self {
        return .{ .child = child, .pages = std.ArrayList([]u8).init(child) };
    }

    /// Room for one value. The value lives as long as the arena, and is not given back alone; whoever
    /// needs that should ask the child allocator instead of us.
    pub fn create(self: *Self, comptime T: type) ArenaError!*T {
        if (@sizeOf(T) > page_size) return error.TooLarge;
        const size = @sizeOf(T);
        const page = self.pages.getLastOrNull() orelse try self.grow();
        if (self.used + size > page.len) {
            _ = try self.grow();
            self.used = 0;
        }
        defer self.used += size;
        return @ptrCast(@alignCast(&page[self.used]));
    }

    fn grow(self: *Self) ArenaError![]u8 {
        const page = self.child.alloc(u8, page_size) catch return error.OutOfMemory;
        self.pages.append(page) catch return error.OutOfMemory;
        total += page.len;
        return page;
    }

    pub fn deinit(self: *Self) void {
        for (self.pages.items) |page| {
            self.child.free(page);
        }
        self.pages.deinit();
    }
};

fn Pair(comptime A: type, comptime B: type) type {
    return struct {
        first: A,
        second: B,
    };
}

test "an arena gives room" {
    var arena = Arena.init(std.testing.allocator);
    defer arena.deinit();
    _ = try arena.create(u32);
}
